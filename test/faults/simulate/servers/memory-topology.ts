import {
  ConditionalCheckFailedException,
  GetItemCommand,
  ScanCommand,
  UpdateItemCommand,
  type AttributeValue,
} from '@aws-sdk/client-dynamodb';
import type { DynamoTable } from '../../../../shared/dynamo/table.ts';
import type { GroupAddress, ShardHome } from '../../../../shared/topology/topology.ts';
import type { VirtualTime } from '../world/virtual-time.ts';

export interface MemoryTopology {
  readonly table: DynamoTable;
  /** The same, except while the datastore is forgotten. */
  readonly tableForDrains: DynamoTable;
  home(shard: number): ShardHome;
  shardsOf(group: string): readonly number[];
  /** Moves a shard, as an operator does. */
  move(shard: number, home: ShardHome): void;
  /** Requests fail while it is set. */
  isUnavailable: boolean;
  /** Drains read a topology without the datastore. */
  isForgotten: boolean;
}

function groupAddress(name: string): GroupAddress {
  const [writer, reader] = [1, 2].map((port) => ({ host: name, port })) as [
    GroupAddress['writer'],
    GroupAddress['reader'],
  ];
  return { name, writer, reader, nodes: [], clusterArn: '', secret: name, sharedStorage: false };
}

export function memoryTopology(
  datastore: string,
  groups: readonly string[],
  homes: readonly ShardHome[],
  time: Pick<VirtualTime, 'sleep'>,
): MemoryTopology {
  const current = [...homes];
  const key = `datastore#${datastore}`;
  const addresses = JSON.stringify(groups.map(groupAddress));
  const groupsItem: Record<string, AttributeValue> = { pk: { S: 'groups' }, groups: { S: addresses } };

  function item(): Record<string, AttributeValue> {
    return {
      pk: { S: key },
      names: { L: groups.map((name) => ({ S: name })) },
      owners: { L: current.map(({ group }) => ({ N: String(groups.indexOf(group)) })) },
      epochs: { L: current.map(({ epoch }) => ({ N: String(epoch) })) },
    };
  }

  async function send(command: unknown): Promise<unknown> {
    await time.sleep(2);
    if (topology.isUnavailable) throw new Error('the table is away');
    if (command instanceof ScanCommand) return { Items: [groupsItem, item()] };
    if (command instanceof GetItemCommand) return { Item: command.input.Key?.['pk']?.S === key ? item() : groupsItem };
    const [, position] =
      command instanceof UpdateItemCommand
        ? (/^SET #epochs\[(\d+)\] = :to$/.exec(command.input.UpdateExpression ?? '') ?? [])
        : [];
    if (
      !(command instanceof UpdateItemCommand) ||
      position === undefined ||
      command.input.ConditionExpression !== `#epochs[${position}] = :from`
    )
      throw new Error('the simulated table does not know this request');
    const { ':from': from, ':to': to } = command.input.ExpressionAttributeValues ?? {};
    const old = current[Number(position)];
    if (!old || old.epoch !== Number(from?.N))
      throw new ConditionalCheckFailedException({ message: 'another epoch', $metadata: {} });
    current[Number(position)] = { ...old, epoch: Number(to?.N) };
    return {};
  }

  async function sendForDrains(command: unknown): Promise<unknown> {
    const answer = await send(command);
    if (!topology.isForgotten) return answer;
    if (command instanceof ScanCommand) return { Items: [groupsItem] };
    return command instanceof GetItemCommand && command.input.Key?.['pk']?.S === key ? {} : answer;
  }

  const tableOf = (through: typeof send): DynamoTable => ({
    client: { send: through } as unknown as DynamoTable['client'],
    table: 'topology',
  });
  const topology: MemoryTopology = {
    table: tableOf(send),
    tableForDrains: tableOf(sendForDrains),
    home(shard) {
      const home = current[shard];
      if (!home) throw new Error(`no shard ${shard}`);
      return home;
    },
    shardsOf: (wanted) => current.flatMap(({ group }, shard) => (group === wanted ? [shard] : [])),
    move(shard, home) {
      current[shard] = home;
    },
    isUnavailable: false,
    isForgotten: false,
  };
  return topology;
}
