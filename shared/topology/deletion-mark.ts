import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  UpdateItemCommand,
  type AttributeValue,
} from '@aws-sdk/client-dynamodb';
import type { DynamoTable } from '../dynamo/table.ts';

/**
 * The mark of a datastore that is being deleted, on its own item of the topology table: with it nobody else finds the
 * datastore. What ends a deletion asks for the very mark that it was begun with, so that one that was cut off, and goes
 * on long after another has finished it, touches no datastore that was made of the same name since.
 */
export interface DeletionMark {
  /** RFC 3339, UTC: when it was begun. */
  readonly since: string;
  /** It is not decided yet: should the datastore hold anything, the mark is taken back. */
  readonly isJudging: boolean;
  /** It is being taken back: what was closed for it may be open already, so that it cannot be decided any more. */
  readonly isTakenBack: boolean;
}

function keyOf(datastore: string): { readonly pk: AttributeValue } {
  return { pk: { S: `datastore#${datastore}` } };
}

/** Reads it past every cache; undefined where no deletion was begun. */
export async function readDeletionMark(
  { client, table }: DynamoTable,
  datastore: string,
): Promise<DeletionMark | undefined> {
  const { Item } = await client.send(
    new GetItemCommand({
      TableName: table,
      Key: keyOf(datastore),
      ConsistentRead: true,
      ProjectionExpression: 'deleting, judging, taken_back',
    }),
  );
  const since = Item?.['deleting']?.S;
  if (since === undefined) return undefined;
  return { since, isJudging: Item?.['judging']?.BOOL ?? false, isTakenBack: Item?.['taken_back']?.BOOL ?? false };
}

/** Takes a datastore off the map for everybody but who deletes it; it is not decided yet. Throws where there is none. */
export async function markDeleting(
  { client, table }: DynamoTable,
  datastore: string,
  now = new Date(),
): Promise<DeletionMark> {
  const since = now.toISOString();
  await client.send(
    new UpdateItemCommand({
      TableName: table,
      Key: keyOf(datastore),
      UpdateExpression: 'SET deleting = :since, judging = :judging',
      // A shard that is being moved has tables on a group that the deletion would not look at.
      ConditionExpression:
        'attribute_exists(pk) AND attribute_not_exists(deleting) AND (attribute_not_exists(moving) OR size(moving) = :none)',
      ExpressionAttributeValues: { ':since': { S: since }, ':judging': { BOOL: true }, ':none': { N: '0' } },
    }),
  );
  return { since, isJudging: true, isTakenBack: false };
}

/** From here on it is deleted, whatever comes. Throws where another has decided it, or takes it back. */
export async function decideDeleting(
  { client, table }: DynamoTable,
  datastore: string,
  { since }: DeletionMark,
): Promise<void> {
  await client.send(
    new UpdateItemCommand({
      TableName: table,
      Key: keyOf(datastore),
      UpdateExpression: 'REMOVE judging',
      ConditionExpression: 'deleting = :since AND attribute_exists(judging) AND attribute_not_exists(taken_back)',
      ExpressionAttributeValues: { ':since': { S: since } },
    }),
  );
}

/** Before anything is opened again of a datastore whose deletion is not decided: nobody decides it from here on. */
export async function beginTakingBack(
  { client, table }: DynamoTable,
  datastore: string,
  { since }: DeletionMark,
): Promise<void> {
  await client.send(
    new UpdateItemCommand({
      TableName: table,
      Key: keyOf(datastore),
      UpdateExpression: 'SET taken_back = :true',
      ConditionExpression: 'deleting = :since AND attribute_exists(judging)',
      ExpressionAttributeValues: { ':since': { S: since }, ':true': { BOOL: true } },
    }),
  );
}

/** Puts a datastore on the map again whose deletion is not decided. */
export async function takeMarkBack(
  { client, table }: DynamoTable,
  datastore: string,
  { since }: DeletionMark,
): Promise<void> {
  await client.send(
    new UpdateItemCommand({
      TableName: table,
      Key: keyOf(datastore),
      UpdateExpression: 'REMOVE deleting, judging, taken_back',
      ConditionExpression: 'deleting = :since AND attribute_exists(judging)',
      ExpressionAttributeValues: { ':since': { S: since } },
    }),
  );
}

/** Forgets a datastore, once nothing of it is left; not one that was made since this deletion was begun. */
export async function forgetDatastore(
  { client, table }: DynamoTable,
  datastore: string,
  { since }: DeletionMark,
): Promise<void> {
  try {
    await client.send(
      new DeleteItemCommand({
        TableName: table,
        Key: keyOf(datastore),
        ConditionExpression: 'deleting = :since',
        ExpressionAttributeValues: { ':since': { S: since } },
      }),
    );
  } catch (error) {
    // Another has finished it.
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}
