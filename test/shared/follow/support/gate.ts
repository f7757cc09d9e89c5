import type { DynamoDBClient, UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import type { SqlClient } from '../../../../shared/sql/client.ts';
import type { DynamoTable } from '../../../../shared/dynamo/table.ts';
import { comes } from '../../../support/until.ts';

/** Stands before everything that one worker asks of the world, as if its process were paused, cut off or killed. */
export interface Gate {
  /**
   * `paused`: nothing passes until it is open again. `away`: DynamoDB cannot be reached. `no-commits`: it refuses
   * offsets.
   */
  state: 'open' | 'paused' | 'unavailable' | 'no-commits';
  refused: number;
  readonly asked: Map<string, number>;
  pass(): Promise<void>;
  table(table: DynamoTable): DynamoTable;
  sql(client: SqlClient): SqlClient;
}

type Command = { readonly input: Partial<UpdateItemCommandInput> };

export function openGate(committed: (key: string, offsets: Uint8Array) => void = () => undefined): Gate {
  const gate: Gate = {
    state: 'open',
    refused: 0,
    asked: new Map(),
    async pass() {
      if (gate.state === 'paused') await comes(() => gate.state !== 'paused', { pollMs: 10 });
    },
    table({ client, table }) {
      const send = async (command: Command, options: unknown): Promise<unknown> => {
        await gate.pass();
        const key = command.input.Key?.['pk']?.S ?? '';
        gate.asked.set(key, (gate.asked.get(key) ?? 0) + 1);
        const offsets = command.input.ExpressionAttributeValues?.[':offsets']?.B;
        if (gate.state === 'unavailable' || (gate.state === 'no-commits' && offsets)) {
          gate.refused += 1;
          throw new Error(`DynamoDB is ${gate.state}`);
        }
        const answer = await (client.send as (...given: unknown[]) => Promise<unknown>).call(client, command, options);
        if (offsets) committed(key, offsets);
        await gate.pass();
        return answer;
      };
      return { client: { send } as unknown as DynamoDBClient, table };
    },
    sql: (client) => ({
      ...client,
      async select(statement, target) {
        await gate.pass();
        const rows = await client.select(statement, target);
        await gate.pass();
        return rows;
      },
    }),
  };
  return gate;
}
