import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  ScanCommand,
  UpdateItemCommand,
  type AttributeValue,
  type ScanCommandOutput,
} from '@aws-sdk/client-dynamodb';
import type { DynamoTable } from './table.ts';

export type StateItem = Readonly<Record<string, AttributeValue>>;

/** An answer that takes longer is given up; the request may still be done, and the next one's condition will tell. */
const TIMEOUT_MS = 3000;

interface StateUpdate {
  readonly key: string;
  /** With `#name` for each attribute. */
  readonly update: string;
  readonly condition?: string;
  /** Attributes whose name is not the placeholder's. */
  readonly names?: Readonly<Record<string, string>>;
  readonly values?: Readonly<Record<string, AttributeValue>>;
}

/** Changes or creates an item. Returns its new state; undefined when the condition did not hold. */
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

/**
 * Sets attributes of an item, and removes those that are undefined. `condition` has `#name` and `:name` for each of
 * them, and what `values` has besides. Returns as `updateState`.
 */
export function setState(
  table: DynamoTable,
  key: string,
  attributes: Readonly<Record<string, AttributeValue | undefined>>,
  { condition, values }: Pick<StateUpdate, 'condition' | 'values'> = {},
): Promise<StateItem | undefined> {
  const sets = Object.entries(attributes).flatMap(([name, value]) => (value ? [[name, value] as const] : []));
  const removes = Object.keys(attributes).filter((name) => attributes[name] === undefined);
  const parts = [
    ...(sets.length > 0 ? [`SET ${sets.map(([name]) => `#${name} = :${name}`).join(', ')}`] : []),
    ...(removes.length > 0 ? [`REMOVE ${removes.map((name) => `#${name}`).join(', ')}`] : []),
  ];
  const bound = { ...Object.fromEntries(sets.map(([name, value]) => [`:${name}`, value])), ...values };
  return updateState(table, {
    key,
    update: parts.join(' '),
    ...(condition !== undefined && { condition }),
    ...(Object.keys(bound).length > 0 && { values: bound }),
  });
}

export async function readState({ client, table }: DynamoTable, key: string): Promise<StateItem | undefined> {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: table, Key: { pk: { S: key } }, ConsistentRead: true }),
    { abortSignal: AbortSignal.timeout(TIMEOUT_MS) },
  );
  return Item;
}

/** Writes an item, in the place of the one that is there. */
export async function putState({ client, table }: DynamoTable, key: string, attributes: StateItem): Promise<void> {
  await client.send(new PutItemCommand({ TableName: table, Item: { pk: { S: key }, ...attributes } }), {
    abortSignal: AbortSignal.timeout(TIMEOUT_MS),
  });
}

/** Deletes an item. `only`: where all of its attribute is this @default whatever it has. Returns whether it was. */
export async function deleteState(
  { client, table }: DynamoTable,
  key: string,
  only?: { readonly name: string; readonly value: AttributeValue },
): Promise<boolean> {
  try {
    await client.send(
      new DeleteItemCommand({
        TableName: table,
        Key: { pk: { S: key } },
        ...(only && {
          ConditionExpression: `#${only.name} = :seen`,
          ExpressionAttributeNames: { [`#${only.name}`]: only.name },
          ExpressionAttributeValues: { ':seen': only.value },
        }),
      }),
      { abortSignal: AbortSignal.timeout(TIMEOUT_MS) },
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

interface ScannedItems {
  readonly items: readonly StateItem[];
  /** The key behind which the next page begins; undefined at the end. */
  readonly end: string | undefined;
}

/**
 * Reads a table from end to end, a page of a megabyte at a time, for items whose keys begin alike: for what few ask.
 * The whole of it counts, and takes the time that it takes. `after`: the key behind which it begins @default at the
 * beginning. `having`: an attribute that they have @default it does not matter.
 */
export async function* scanState(
  { client, table }: DynamoTable,
  prefix: string,
  { after, having }: { readonly after?: string | undefined; readonly having?: string } = {},
): AsyncGenerator<ScannedItems, void, undefined> {
  let start = after;
  do {
    const { Items = [], LastEvaluatedKey }: ScanCommandOutput = await client.send(
      new ScanCommand({
        TableName: table,
        ConsistentRead: true,
        FilterExpression: `begins_with(pk, :prefix)${having === undefined ? '' : ' AND attribute_exists(#having)'}`,
        ExpressionAttributeValues: { ':prefix': { S: prefix } },
        ...(having !== undefined && { ExpressionAttributeNames: { '#having': having } }),
        ...(start !== undefined && { ExclusiveStartKey: { pk: { S: start } } }),
      }),
    );
    start = LastEvaluatedKey?.['pk']?.S;
    yield { items: Items, end: start };
  } while (start !== undefined);
}

/** DynamoDB refuses names that an expression does not use. */
function namesIn(expression: string, names: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(
    [...expression.matchAll(/#(\w+)/g)].map(([placeholder, name = '']) => [placeholder, names[placeholder] ?? name]),
  );
}
