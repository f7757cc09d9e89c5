import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  GetItemCommand,
  PutItemCommand,
  ScanCommand,
  UpdateItemCommand,
  type AttributeValue,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDynamoDb } from '../../../../infra/local/emulators/dynamodb.ts';
import type { Emulator } from '../../../../infra/local/emulators/emulator.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';
import { dynamoAt, makeTable } from './emulated-table.ts';

const KB = 1024;
const TableName = 'limits';
const folder = folderOfTests();
let dynamo: Emulator;
let client: DynamoDBClient;

beforeAll(async () => {
  dynamo = await startDynamoDb(folder.path, 0);
  client = dynamoAt(dynamo.url);
  await makeTable(client, TableName);
});
afterAll(async () => {
  client.destroy();
  await dynamo.close();
});

const count = (length: number): number[] => Array.from({ length }, (_, n) => n);
const joined = (length: number, text: (n: number) => string, between = ', '): string =>
  count(length).map(text).join(between);

/** Updates an item with the values `:v0`, `:v1` and so on, each its number. */
function update(values: number, UpdateExpression: string, ConditionExpression?: string): Promise<unknown> {
  const ExpressionAttributeValues = Object.fromEntries(count(values).map((n) => [`:v${n}`, { N: String(n) }]));
  const expressions = { UpdateExpression, ConditionExpression, ExpressionAttributeValues };
  return client.send(new UpdateItemCommand({ TableName, Key: { pk: { S: 'limits' } }, ...expressions }));
}

const put = (key: string, bytes: number): Promise<unknown> =>
  client.send(new PutItemCommand({ TableName, Item: { pk: { S: key }, body: { B: new Uint8Array(bytes) } } }));

const refused = (message?: unknown) => ({ name: 'ValidationException', ...(message !== undefined && { message }) });
const TOUCH = 'SET touched = :v0';

describe('the local DynamoDB refuses what AWS refuses', () => {
  it('more than 100 operands of one IN', async () => {
    const among = (operands: number): string => `NOT gone IN (${joined(operands, (n) => `:v${n}`)})`;
    await update(100, TOUCH, among(100));
    const tooMany = 'The IN operator is provided with too many operands; number of operands: 101';
    await expect(update(101, TOUCH, among(101))).rejects.toMatchObject(
      refused(`Invalid ConditionExpression: ${tooMany}`),
    );
    const ExpressionAttributeValues: Record<string, AttributeValue> = { ':v0': { N: '0' } };
    const filter = { FilterExpression: among(101).replaceAll(/:v\d+/gu, ':v0'), ExpressionAttributeValues };
    await expect(client.send(new ScanCommand({ TableName, ...filter }))).rejects.toMatchObject(
      refused(`Invalid FilterExpression: ${tooMany}`),
    );
  });

  it('expressions of more than 4 KB, in bytes', async () => {
    const setting = (bytes: number): string => `SET ${'a'.repeat(bytes - 'SET  = :v0'.length)} = :v0`;
    await update(1, setting(4096));
    const tooLarge = 'Expression size has exceeded the maximum allowed size; expression size: 4097';
    await expect(update(1, setting(4097))).rejects.toMatchObject(refused(`Invalid UpdateExpression: ${tooLarge}`));
    const projection = { Key: { pk: { S: 'limits' } }, ProjectionExpression: 'b'.repeat(4097) };
    await expect(client.send(new GetItemCommand({ TableName, ...projection }))).rejects.toMatchObject(
      refused(`Invalid ProjectionExpression: ${tooLarge}`),
    );
  });

  it('more than 300 operators and functions of one expression; = of a SET is none', async () => {
    const comparing = (comparisons: number): string => joined(comparisons, () => 'z<:v0', ' OR ');
    // Short of 4 KB: names of two letters at most.
    await update(1, `SET ${joined(290, (n) => `a${n}=:v0`, ',')}`);
    await update(1, `SET ${joined(100, (n) => `a${n} = if_not_exists(z, :v0)`)}`);
    await expect(update(1, TOUCH, comparing(150))).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' });
    await expect(update(1, TOUCH, comparing(151))).rejects.toMatchObject(
      refused('Invalid ConditionExpression: The expression contains too many operators; operator count: 301'),
    );
  });

  it('batches of more than 100 items read, or 25 written', async () => {
    const keys = count(101).map((n) => ({ pk: { S: `batch-${n}` } }));
    const read = (Keys: typeof keys) =>
      client.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys } } }));
    await read(keys.slice(1));
    await expect(read(keys)).rejects.toMatchObject(
      refused(expect.stringContaining('length less than or equal to 100')),
    );
    const write = (some: typeof keys) => {
      const requests = some.map((Item) => ({ PutRequest: { Item } }));
      return client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: requests } }));
    };
    await write(keys.slice(0, 25));
    await expect(write(keys.slice(0, 26))).rejects.toMatchObject(refused());
  });

  it('items of more than 400 KB, written whole or grown by an update; keys that are empty or too long', async () => {
    await put('limits', 399 * KB);
    await expect(put('limits', 400 * KB)).rejects.toMatchObject(
      refused('Item size has exceeded the maximum allowed size'),
    );
    await expect(update(1, `SET ${joined(250, (n) => `more${n}=:v0`, ',')}`)).rejects.toMatchObject(
      refused('Item size to update has exceeded the maximum allowed size'),
    );
    await put('k'.repeat(2048), 1);
    for (const key of ['', 'k'.repeat(2049)]) await expect(put(key, 1)).rejects.toMatchObject(refused());
  });
});

it('pages of a scan end at 1 MB, and batches at 16 MB, as those of AWS: the rest is asked for again', async () => {
  const keys = count(60).map((n) => ({ pk: { S: `page-${n}` } }));
  for (const { pk } of keys) await put(pk.S, 390 * KB);
  const { Items = [], LastEvaluatedKey } = await client.send(new ScanCommand({ TableName }));
  expect([Items.length <= 4, LastEvaluatedKey !== undefined]).toEqual([true, true]);
  const { Responses, UnprocessedKeys } = await client.send(
    new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: keys } } }),
  );
  const [read, left] = [Responses?.[TableName]?.length ?? 0, UnprocessedKeys?.[TableName]?.Keys?.length ?? 0];
  expect([read + left, read * 390 * KB <= 16 * KB * KB, left > 0]).toEqual([60, true, true]);
});
