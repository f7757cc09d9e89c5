import {
  ConditionalCheckFailedException,
  GetItemCommand,
  PutItemCommand,
  type AttributeValue,
} from '@aws-sdk/client-dynamodb';
import type { DynamoTable } from '../dynamo/table.ts';

/**
 * The last that is known of a datastore that was deleted: an item of the topology table, `deleted#shop`, which stays.
 * Whoever still goes by what was then must meet nothing of a datastore that is made of the same name later, and what
 * comes late for the old one is told by it from what is for one that is too new to be known.
 */
export interface FormerDatastore {
  /** RFC 3339, UTC. */
  readonly at: string;
  readonly shards: number;
  /** The highest of its shards: one of the same name begins above it. */
  readonly epoch: number;
}

/**
 * By then nobody goes by what the topology said before a deletion: it is read anew each minute, and no request takes
 * longer than half of one. An instance that could not read the table all the while is left to the epochs.
 */
export const FORGOTTEN_AFTER_MS = 90_000;

function keyOf(datastore: string): { readonly pk: AttributeValue } {
  return { pk: { S: `deleted#${datastore}` } };
}

/** Reads it past every cache; undefined where no datastore of the name was ever deleted. */
export async function readFormer(
  { client, table }: DynamoTable,
  datastore: string,
): Promise<FormerDatastore | undefined> {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: table, Key: keyOf(datastore), ConsistentRead: true }),
  );
  if (!Item) return undefined;
  return { at: Item['at']?.S ?? '', shards: Number(Item['shards']?.N), epoch: Number(Item['epoch']?.N) };
}

/** Writes it, unless there is one of a later datastore of the name: who was cut off long ago changes nothing. */
export async function writeFormer(
  { client, table }: DynamoTable,
  datastore: string,
  { at, shards, epoch }: FormerDatastore,
): Promise<void> {
  try {
    await client.send(
      new PutItemCommand({
        TableName: table,
        Item: { ...keyOf(datastore), at: { S: at }, shards: { N: String(shards) }, epoch: { N: String(epoch) } },
        ConditionExpression: 'attribute_not_exists(#epoch) OR #epoch <= :epoch',
        ExpressionAttributeNames: { '#epoch': 'epoch' },
        ExpressionAttributeValues: { ':epoch': { N: String(epoch) } },
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}
