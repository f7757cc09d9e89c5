import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
  type AttributeValue,
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
  const changed = await ifHeld(
    client.send(
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
    ),
  );
  return changed && (changed.Attributes ?? {});
}

/** Undefined where a condition did not hold. */
async function ifHeld<Done>(asked: Promise<Done>): Promise<Done | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
}

/**
 * Sets attributes of an item, and removes those that are undefined. `condition` has `#name` and `:name` for each of
 * them, in addition to those of `values`. Returns as `updateState`.
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

export const KEYS_A_READ = 100;
/** Pauses after throttled reads grow by this. */
const PAUSE_MS = 50;
const MAX_TRIES = 8;

/** Reads many items, consistently; missing ones are left out. */
export async function readStates(
  { client, table }: DynamoTable,
  keys: readonly string[],
): Promise<ReadonlyMap<string, StateItem>> {
  const found = new Map<string, StateItem>();
  let left = [...new Set(keys)];
  for (let tries = 0; left.length > 0;) {
    const page = left.slice(0, KEYS_A_READ);
    const { Responses, UnprocessedKeys } = await client.send(
      new BatchGetItemCommand({
        RequestItems: { [table]: { Keys: page.map((key) => ({ pk: { S: key } })), ConsistentRead: true } },
      }),
      { abortSignal: AbortSignal.timeout(TIMEOUT_MS) },
    );
    for (const item of Responses?.[table] ?? []) found.set(item['pk']?.S ?? '', item);
    const passedOver = (UnprocessedKeys?.[table]?.Keys ?? []).map((key) => key['pk']?.S ?? '');
    left = [...passedOver, ...left.slice(page.length)];
    tries = passedOver.length > 0 ? tries + 1 : 0;
    if (tries === MAX_TRIES)
      throw new Error(
        `DynamoDB answered ${MAX_TRIES} reads in part only: ${left.length} of ${keys.length} items are left`,
      );
    if (tries > 0) await sleep(PAUSE_MS * tries);
  }
  return found;
}

/** Writes an item, in the place of the one that is there. Returns whether the condition held. */
export async function putState(
  { client, table }: DynamoTable,
  key: string,
  attributes: StateItem,
  condition?: string,
): Promise<boolean> {
  const Item = { pk: { S: key }, ...attributes };
  const put = new PutItemCommand({ TableName: table, Item, ConditionExpression: condition });
  return (await ifHeld(client.send(put, { abortSignal: AbortSignal.timeout(TIMEOUT_MS) }))) !== undefined;
}

/** Deletes an item. `only`: where all of its attribute is this @default whatever it has. Returns whether it was. */
export async function deleteState(
  { client, table }: DynamoTable,
  key: string,
  only?: { readonly name: string; readonly value: AttributeValue },
): Promise<boolean> {
  const gone = new DeleteItemCommand({
    TableName: table,
    Key: { pk: { S: key } },
    ...(only && {
      ConditionExpression: `#${only.name} = :seen`,
      ExpressionAttributeNames: { [`#${only.name}`]: only.name },
      ExpressionAttributeValues: { ':seen': only.value },
    }),
  });
  return (await ifHeld(client.send(gone, { abortSignal: AbortSignal.timeout(TIMEOUT_MS) }))) !== undefined;
}

/** DynamoDB refuses names that an expression does not use. */
function namesIn(expression: string, names: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(
    [...expression.matchAll(/#(\w+)/g)].map(([placeholder, name = '']) => [placeholder, names[placeholder] ?? name]),
  );
}
