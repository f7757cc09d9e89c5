import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  GetItemCommand,
  PutItemCommand,
  ScanCommand,
  UpdateItemCommand,
  type AttributeValue,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDynamoDb } from '../../../../infra/local/emulators/dynamodb.ts';
import type { Emulator } from '../../../../infra/local/emulators/emulator.ts';
import type { DynamoTable } from '../../../../shared/dynamo/table.ts';
import { dynamoClient, newTable } from '../../../support/dynamo.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';

const KB = 1024;
const folder = folderOfTests();
let dynamo: Emulator;
let table: DynamoTable;

beforeAll(async () => {
  dynamo = await startDynamoDb(folder.path, 0);
  table = await newTable(dynamoClient(dynamo.url));
});
afterAll(async () => {
  table.client.destroy();
  await dynamo.close();
});

const count = (length: number): number[] => Array.from({ length }, (_, n) => n);
const joined = (length: number, text: (n: number) => string, between = ', '): string =>
  count(length).map(text).join(between);
const numbers = (length: number): Record<string, AttributeValue> =>
  Object.fromEntries(count(length).map((n) => [`:v${n}`, { N: String(n) }]));

function update(input: {
  readonly update?: string;
  readonly condition?: string;
  readonly values: Record<string, AttributeValue>;
}): Promise<unknown> {
  const { update = 'SET touched = :v0', condition, values } = input;
  return table.client.send(
    new UpdateItemCommand({
      TableName: table.table,
      Key: { pk: { S: 'limits' } },
      UpdateExpression: update,
      ConditionExpression: condition,
      ExpressionAttributeValues: values,
    }),
  );
}

function put(key: string, bytes: number): Promise<unknown> {
  return table.client.send(
    new PutItemCommand({ TableName: table.table, Item: { pk: { S: key }, body: { B: new Uint8Array(bytes) } } }),
  );
}

const refused = (message: string) => ({ name: 'ValidationException', message });

describe('the local DynamoDB refuses what AWS refuses', () => {
  it('more than 100 operands of one IN', async () => {
    const among = (operands: number): string => `NOT gone IN (${joined(operands, (n) => `:v${n}`)})`;
    await update({ condition: among(100), values: numbers(100) });
    const tooMany = 'The IN operator is provided with too many operands; number of operands: 101';
    await expect(update({ condition: among(101), values: numbers(101) })).rejects.toMatchObject(
      refused(`Invalid ConditionExpression: ${tooMany}`),
    );
    const filter = { FilterExpression: among(101), ExpressionAttributeValues: numbers(101) };
    await expect(table.client.send(new ScanCommand({ TableName: table.table, ...filter }))).rejects.toMatchObject(
      refused(`Invalid FilterExpression: ${tooMany}`),
    );
  });

  it('expressions of more than 4 KB, in bytes', async () => {
    const setting = (bytes: number): string => `SET ${'a'.repeat(bytes - 'SET  = :v0'.length)} = :v0`;
    await update({ update: setting(4096), values: numbers(1) });
    const tooLarge = 'Expression size has exceeded the maximum allowed size; expression size: 4097';
    await expect(update({ update: setting(4097), values: numbers(1) })).rejects.toMatchObject(
      refused(`Invalid UpdateExpression: ${tooLarge}`),
    );
    const projection = { Key: { pk: { S: 'limits' } }, ProjectionExpression: 'b'.repeat(4097) };
    await expect(
      table.client.send(new GetItemCommand({ TableName: table.table, ...projection })),
    ).rejects.toMatchObject(refused(`Invalid ProjectionExpression: ${tooLarge}`));
  });

  it('more than 300 operators and functions of one expression; = of a SET is none', async () => {
    const setting = (functions: number): string => `SET ${joined(functions, (n) => `a${n} = if_not_exists(z, :v0)`)}`;
    const comparing = (comparisons: number): string => joined(comparisons, () => 'z<:v0', ' OR ');
    // Short of 4 KB: names of two letters at most.
    await update({ update: `SET ${joined(290, (n) => `a${n}=:v0`, ',')}`, values: numbers(1) });
    await update({ update: setting(100), values: numbers(1) });
    await expect(update({ condition: comparing(150), values: numbers(1) })).rejects.toMatchObject({
      name: 'ConditionalCheckFailedException',
    });
    await expect(update({ condition: comparing(151), values: numbers(1) })).rejects.toMatchObject(
      refused('Invalid ConditionExpression: The expression contains too many operators; operator count: 301'),
    );
  });

  it('batches of more than 100 items read, or 25 written', async () => {
    const keys = count(101).map((n) => ({ pk: { S: `batch-${n}` } }));
    const read = (some: typeof keys): Promise<unknown> =>
      table.client.send(new BatchGetItemCommand({ RequestItems: { [table.table]: { Keys: some } } }));
    await read(keys.slice(1));
    await expect(read(keys)).rejects.toMatchObject({
      name: 'ValidationException',
      message: expect.stringContaining('length less than or equal to 100') as string,
    });
    const write = (some: typeof keys): Promise<unknown> =>
      table.client.send(
        new BatchWriteItemCommand({ RequestItems: { [table.table]: some.map((Item) => ({ PutRequest: { Item } })) } }),
      );
    await write(keys.slice(0, 25));
    await expect(write(keys.slice(0, 26))).rejects.toMatchObject({ name: 'ValidationException' });
  });

  it('items of more than 400 KB, written whole or grown by an update', async () => {
    await put('large', 399 * KB);
    await expect(put('large', 400 * KB)).rejects.toMatchObject(
      refused('Item size has exceeded the maximum allowed size'),
    );
    const grow = table.client.send(
      new UpdateItemCommand({
        TableName: table.table,
        Key: { pk: { S: 'large' } },
        UpdateExpression: 'SET more = :more',
        ExpressionAttributeValues: { ':more': { B: new Uint8Array(KB) } },
      }),
    );
    await expect(grow).rejects.toMatchObject(refused('Item size to update has exceeded the maximum allowed size'));
  });

  it('keys that are empty, or longer than 2,048 bytes', async () => {
    await expect(put('', 1)).rejects.toMatchObject({ name: 'ValidationException' });
    await put('k'.repeat(2048), 1);
    await expect(put('k'.repeat(2049), 1)).rejects.toMatchObject({ name: 'ValidationException' });
  });
});

describe('the local DynamoDB answers no more than AWS does', () => {
  it('pages of a scan end at 1 MB, and batches at 16 MB: the rest is asked for again', async () => {
    const keys = count(60).map((n) => ({ pk: { S: `page-${n}` } }));
    for (const { pk } of keys) await put(pk.S, 390 * KB);
    const { Items = [], LastEvaluatedKey } = await table.client.send(new ScanCommand({ TableName: table.table }));
    expect([Items.length <= 4, LastEvaluatedKey !== undefined]).toEqual([true, true]);
    const { Responses, UnprocessedKeys } = await table.client.send(
      new BatchGetItemCommand({ RequestItems: { [table.table]: { Keys: keys } } }),
    );
    const [read, left] = [Responses?.[table.table]?.length ?? 0, UnprocessedKeys?.[table.table]?.Keys?.length ?? 0];
    expect([read + left, read * 390 * KB <= 16 * KB * KB, left > 0]).toEqual([60, true, true]);
  });
});
