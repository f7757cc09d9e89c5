import { DeleteItemCommand, PutItemCommand, ScanCommand, type AttributeValue } from '@aws-sdk/client-dynamodb';
import type { IndexDefinition } from '../definitions/definitions.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { DeployedTrigger } from './topology.ts';

/**
 * What was defined through the API, and not by a deployment: items of the topology table, by which the next deployment
 * knows that nobody wished them gone. What functions go by is in the catalogues beside them.
 *
 * | pk | holds |
 * |---|---|
 * | `applied#shop` | `definition`: `{"shards": 16}` |
 * | `applied#shop#index#buyer_index` | `definition`: the index, JSON |
 * | `applied#shop#trigger#confirm_order` | `definition`: the trigger and its queues, JSON |
 *
 * One item each: all of a datastore's together could outgrow the 400 KB of one.
 */
export interface AppliedDatastore {
  readonly name: string;
  /** Undefined where the datastore itself is a deployment's. */
  readonly shards: number | undefined;
  readonly indexes: readonly IndexDefinition[];
  readonly triggers: readonly DeployedTrigger[];
}

/** A definition that was applied. */
export type AppliedDefinition =
  | { readonly kind: 'datastore'; readonly datastore: string; readonly shards: number }
  | { readonly kind: 'index'; readonly datastore: string; readonly index: IndexDefinition }
  | { readonly kind: 'trigger'; readonly datastore: string; readonly trigger: DeployedTrigger };

/** Names one of them. */
export interface AppliedName {
  readonly kind: AppliedDefinition['kind'];
  readonly datastore: string;
  /** That of the datastore where it is one. */
  readonly name: string;
}

const KEY = /^applied#([^#]+)(?:#(index|trigger)#([^#]+))?$/u;

function keyOf({ kind, datastore, name }: AppliedName): { readonly pk: AttributeValue } {
  return { pk: { S: kind === 'datastore' ? `applied#${datastore}` : `applied#${datastore}#${kind}#${name}` } };
}

/** Everything that was applied, by datastore, past every cache. */
export async function readApplied({ client, table }: DynamoTable): Promise<readonly AppliedDatastore[]> {
  const found: AppliedDefinition[] = [];
  let start: Record<string, AttributeValue> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({ TableName: table, ConsistentRead: true, ExclusiveStartKey: start }),
    );
    found.push(...(page.Items ?? []).flatMap((item) => toApplied(item) ?? []));
    start = page.LastEvaluatedKey;
  } while (start);
  return [...Map.groupBy(found, ({ datastore }) => datastore)].map(([name, all]) => ({
    name,
    shards: all.find((one) => one.kind === 'datastore')?.shards,
    indexes: all.flatMap((one) => (one.kind === 'index' ? [one.index] : [])),
    triggers: all.flatMap((one) => (one.kind === 'trigger' ? [one.trigger] : [])),
  }));
}

function toApplied(item: Record<string, AttributeValue>): AppliedDefinition | undefined {
  const [, datastore, kind = 'datastore'] = KEY.exec(item['pk']?.S ?? '') ?? [];
  if (datastore === undefined) return undefined;
  const definition: unknown = JSON.parse(item['definition']?.S ?? '{}');
  if (kind === 'index') return { kind, datastore, index: definition as IndexDefinition };
  if (kind === 'trigger') return { kind, datastore, trigger: definition as DeployedTrigger };
  return { kind: 'datastore', datastore, shards: Number(Object(definition).shards) };
}

export async function writeApplied({ client, table }: DynamoTable, applied: AppliedDefinition): Promise<void> {
  const { datastore } = applied;
  const [name, definition] =
    applied.kind === 'datastore'
      ? [datastore, { shards: applied.shards }]
      : applied.kind === 'index'
        ? [applied.index.name, applied.index]
        : [applied.trigger.definition.name, applied.trigger];
  await client.send(
    new PutItemCommand({
      TableName: table,
      Item: { ...keyOf({ kind: applied.kind, datastore, name }), definition: { S: JSON.stringify(definition) } },
    }),
  );
}

/** A deployment does not keep it any more. */
export async function forgetApplied({ client, table }: DynamoTable, name: AppliedName): Promise<void> {
  await client.send(new DeleteItemCommand({ TableName: table, Key: keyOf(name) }));
}

/** All of a datastore: its own item last. */
export async function forgetAppliedDatastore(table: DynamoTable, datastore: string): Promise<void> {
  const applied = (await readApplied(table)).find(({ name }) => name === datastore);
  for (const { name } of applied?.indexes ?? []) await forgetApplied(table, { kind: 'index', datastore, name });
  for (const { definition } of applied?.triggers ?? [])
    await forgetApplied(table, { kind: 'trigger', datastore, name: definition.name });
  await forgetApplied(table, { kind: 'datastore', datastore, name: datastore });
}
