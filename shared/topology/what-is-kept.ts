import { UpdateItemCommand, type AttributeValue } from '@aws-sdk/client-dynamodb';
import type { RetentionRule, SealedFields } from '../definitions/definitions.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { DatastoreTopology } from './topology.ts';

/** A datastore's retention and sealed fields: attributes of its topology item, known with its shards' places. */
type Kept = Pick<DatastoreTopology, 'retention' | 'sealed'>;

/** Writes the rules of a datastore that is there, in the place of those before; undefined: cells are kept for good. */
export function writeRetention(
  table: DynamoTable,
  datastore: string,
  rules: readonly RetentionRule[] | undefined,
): Promise<void> {
  return write(table, datastore, 'retention', rules);
}

/** Says from now on which fields of a datastore that is there are sealed; instances know it within a minute. */
export function writeSealed(
  table: DynamoTable,
  datastore: string,
  sealed: readonly SealedFields[] | undefined,
): Promise<void> {
  return write(table, datastore, 'sealed', sealed?.length === 0 ? undefined : sealed);
}

async function write(
  { client, table }: DynamoTable,
  datastore: string,
  attribute: keyof Kept,
  value: readonly unknown[] | undefined,
): Promise<void> {
  await client.send(
    new UpdateItemCommand({
      TableName: table,
      Key: { pk: { S: `datastore#${datastore}` } },
      UpdateExpression: value ? `SET ${attribute} = :value` : `REMOVE ${attribute}`,
      ConditionExpression: 'attribute_exists(pk)',
      ...(value && { ExpressionAttributeValues: { ':value': { S: JSON.stringify(value) } } }),
    }),
  );
}

export function toKept({ retention, sealed }: Record<string, AttributeValue>): Kept {
  return {
    ...(retention?.S !== undefined && { retention: JSON.parse(retention.S) as readonly RetentionRule[] }),
    ...(sealed?.S !== undefined && { sealed: JSON.parse(sealed.S) as readonly SealedFields[] }),
  };
}
