import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  UpdateItemCommand,
  type AttributeValue,
} from '@aws-sdk/client-dynamodb';
import type { DynamoTable } from './table.ts';

export type StateItem = Readonly<Record<string, AttributeValue>>;

/** An answer that takes longer is given up; the request may still be done, and the next one's condition will tell. */
const TIMEOUT_MS = 3000;

export interface StateUpdate {
  readonly key: string;
  /** With `#name` for each attribute. */
  readonly update: string;
  readonly condition?: string;
  /** Attributes whose name is not the placeholder's. */
  readonly names?: Readonly<Record<string, string>>;
  readonly values?: Readonly<Record<string, AttributeValue>>;
}

/**
 * Changes an item, creating it where it is missing. Returns it as it is then, or undefined when the condition did not
 * hold.
 */
export async function updateState(
  { client, table }: DynamoTable,
  { key, update, condition, names, values }: StateUpdate,
): Promise<StateItem | undefined> {
  try {
    const { Attributes } = await client.send(
      new UpdateItemCommand({
        TableName: table,
        Key: { pk: { S: key } },
        UpdateExpression: update,
        ConditionExpression: condition,
        ExpressionAttributeNames: namesIn(`${update} ${condition ?? ''}`, names),
        ExpressionAttributeValues: values,
        ReturnValues: 'ALL_NEW',
      }),
      { abortSignal: AbortSignal.timeout(TIMEOUT_MS) },
    );
    return Attributes ?? {};
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
}

export async function readState({ client, table }: DynamoTable, key: string): Promise<StateItem | undefined> {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: table, Key: { pk: { S: key } }, ConsistentRead: true }),
    { abortSignal: AbortSignal.timeout(TIMEOUT_MS) },
  );
  return Item;
}

export async function deleteState({ client, table }: DynamoTable, key: string): Promise<void> {
  await client.send(new DeleteItemCommand({ TableName: table, Key: { pk: { S: key } } }), {
    abortSignal: AbortSignal.timeout(TIMEOUT_MS),
  });
}

/** DynamoDB refuses names that an expression does not use. */
function namesIn(expression: string, names: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(
    [...expression.matchAll(/#(\w+)/g)].map(([placeholder, name = '']) => [placeholder, names[placeholder] ?? name]),
  );
}
