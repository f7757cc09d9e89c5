import {
  ConditionalCheckFailedException,
  GetItemCommand,
  UpdateItemCommand,
  type AttributeValue,
} from '@aws-sdk/client-dynamodb';
import type { DynamoTable } from './table.ts';

/** A lease as the table has it; nobody and nothing are empty. */
export interface LeaseItem {
  readonly owner: string;
  readonly token: number;
  readonly beat: number;
  readonly heir: string;
}

interface LeaseUpdate {
  /** With `#name` for each attribute. */
  readonly set: string;
  readonly condition: string;
  readonly values: Readonly<Record<string, number | string>>;
}

/** @returns undefined where nobody has ever held the lease */
export async function readLease({ client, table }: DynamoTable, name: string): Promise<LeaseItem | undefined> {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: table, Key: { pk: { S: `lease#${name}` } }, ConsistentRead: true }),
  );
  return Item && toItem(Item);
}

/** Writes the item if it is still as it was seen, and gives what it is now; undefined if it was not. */
export async function writeLease(
  { client, table }: DynamoTable,
  name: string,
  update: LeaseUpdate,
): Promise<LeaseItem | undefined> {
  try {
    const { Attributes } = await client.send(
      new UpdateItemCommand({
        TableName: table,
        Key: { pk: { S: `lease#${name}` } },
        UpdateExpression: update.set,
        ConditionExpression: update.condition,
        ExpressionAttributeNames: namesIn(`${update.set} ${update.condition}`),
        ExpressionAttributeValues: Object.fromEntries(
          Object.entries(update.values).map(([key, value]) => [
            key,
            typeof value === 'number' ? { N: String(value) } : { S: value },
          ]),
        ),
        ReturnValues: 'ALL_NEW',
      }),
    );
    return toItem(Attributes);
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
}

function toItem(item: Record<string, AttributeValue> = {}): LeaseItem {
  return {
    owner: item['owner']?.S ?? '',
    token: Number(item['token']?.N ?? 0),
    beat: Number(item['beat']?.N ?? 0),
    heir: item['heir']?.S ?? '',
  };
}

/** DynamoDB refuses names that an expression does not use. */
function namesIn(expression: string): Record<string, string> {
  return Object.fromEntries([...expression.matchAll(/#(\w+)/g)].map(([placeholder, name = '']) => [placeholder, name]));
}
