import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it, vi } from 'vitest';
import { applyFolder } from '../../../../infra/cli/commands/apply.ts';
import { awsLogin } from '../../../../infra/local/stack/aws-login.ts';
import { schemalessClient } from '../../../../shared/client/client.ts';
import { definitionsClient } from '../../../../shared/client/definitions-client.ts';
import { appliedQueueName } from '../../../../shared/migrate/applied-queues.ts';
import { errorOf } from '../../../support/datastore-conformance.ts';
import { localStack } from '../../../support/local-stack.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { writeFiles } from '../../support/write-files.ts';

/** A whole stack, on a machine that has other things to do. */
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
const BUYER = '5d2c8a17-9e4b-4f36-a1d8-7c0e6b3f2a94';
const SHOP = {
  'shop/datastore.yaml': 'datastore: shop\nshards: 4096\n',
  'shop/indexes/buyer_index.yaml':
    'table: buyer_index\ndatastore: shop\ncolumn_defs:\n  - column_key: ORDER\n    fields:\n      - { field: buyer, type: UUID }\n',
  'shop/triggers/send.yaml': 'trigger: send\ndatastore: shop\ncolumns: [ORDER]\n',
};
const folder = temporaryFolder();

const write = (under: string, files: Readonly<Record<string, string>>): string =>
  writeFiles(join(folder.path, under), files);

const stack = localStack(folder, {
  datastores: write('deployed', { 'base/datastore.yaml': 'datastore: base\nshards: 4\n' }),
});

const shop = () => schemalessClient({ url: stack().url, datastore: 'shop', retryBudget: false });
const order = () => ({ row_key: randomUUID(), column_name: 'ORDER', ref_key: 1, body: { buyer: BUYER } });

/** The next message on a trigger's queue. */
async function nextMessage(trigger: string): Promise<Readonly<Record<string, unknown>>> {
  const { sqs } = stack().endpoints;
  const client = new SQSClient({
    endpoint: sqs,
    useQueueUrlAsEndpoint: false,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const QueueUrl = `${sqs}/000000000000/${appliedQueueName('local', 'shop', trigger, '')}`;
  try {
    for (;;) {
      const { Messages: [message] = [] } = await client.send(
        new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }),
      );
      if (message) return JSON.parse(message.Body ?? '{}') as Readonly<Record<string, unknown>>;
    }
  } finally {
    client.destroy();
  }
}

/** Lets a deletion be so long ago that no function remembers what was there. */
async function forgetDeletion(datastore: string): Promise<void> {
  const { dynamodb, tables } = stack().endpoints;
  const client = new DynamoDBClient({ endpoint: dynamodb, ...awsLogin() });
  await client.send(
    new UpdateItemCommand({
      TableName: tables.find((name) => name.includes('topology')),
      Key: { pk: { S: `deleted#${datastore}` } },
      UpdateExpression: 'SET #at = :at',
      ExpressionAttributeNames: { '#at': 'at' },
      ExpressionAttributeValues: { ':at': { S: '2020-01-01T00:00:00.000Z' } },
    }),
  );
  client.destroy();
}

describe('a running stack', () => {
  it('takes a datastore with an index and a trigger, and serves all of them', async () => {
    expect(await errorOf(() => shop().put(order()))).toMatchObject({ code: 'unknown_datastore' });
    const outcome = await applyFolder(definitionsClient({ url: stack().url }), write('defined', SHOP));
    expect(outcome).toMatchObject({ done: true, dry_run: false, warnings: [] });
    expect(outcome.changes.map(({ name, change, shards }) => [name, change, shards])).toEqual([
      // As many as any datastore gets here.
      ['shop', 'create', 4],
      ['buyer_index', 'create', undefined],
      ['send', 'create', undefined],
    ]);
    const cell = order();
    // Who looked in vain just before looks again a second later.
    await expect
      .poll(() =>
        shop()
          .put(cell)
          .catch(({ code }) => code),
      )
      .toMatchObject({ outcome: 'stored', added_id: 1 });
    const { entries } = await shop().query({
      index: 'buyer_index',
      where: [{ field: 'buyer', operator: 'eq', values: [BUYER] }],
    });
    expect(entries).toMatchObject([{ row_key: cell.row_key }]);
    expect(await nextMessage('send')).toMatchObject({ datastore: 'shop', row_key: cell.row_key });
    expect(await shop().trigger('send')).toMatchObject({ state: 'running', function: null });
  });

  it('refuses what is wrong with its file and line, and what cannot be had with the reason', async () => {
    const definitions = definitionsClient({ url: stack().url });
    expect(await errorOf(() => definitions.apply({ ...SHOP, 'shop/indexes/bad.yaml': 'table: bad\n' }))).toMatchObject({
      code: 'invalid_definition',
      details: {
        more: { problems: expect.arrayContaining([expect.objectContaining({ file: 'shop/indexes/bad.yaml' })]) },
      },
    });
    const called = { trigger: 'call', datastore: 'shop', columns: '*', function: 'functions/call.ts' };
    expect(await errorOf(() => definitions.apply({ ...SHOP, 'shop/triggers/call.yaml': called }))).toMatchObject({
      code: 'fixed_definition',
      message: expect.stringContaining('a function is bundled by a deployment'),
    });
    expect(await errorOf(() => definitions.deleteDatastore('base', { confirm: 'base' }))).toMatchObject({
      code: 'still_defined',
    });
  });

  it('deletes it for good, and everybody knows', async () => {
    const definitions = definitionsClient({ url: stack().url });
    expect(await errorOf(() => definitions.deleteDatastore('shop', { confirm: 'shop' }))).toMatchObject({
      code: 'would_lose',
    });
    expect(await definitions.deleteDatastore('shop', { confirm: 'shop', force: true })).toMatchObject({ done: true });
    expect(await errorOf(() => shop().put(order()))).toMatchObject({ code: 'unknown_datastore' });
    // Who reads by what it knew finds nothing, and knows within a minute why.
    const once = schemalessClient({ url: stack().url, datastore: 'shop', attempts: 1 });
    const where = [{ field: 'buyer', operator: 'eq', values: [BUYER] }] as const;
    await expect
      .poll(async () => (await errorOf(() => once.query({ index: 'buyer_index', where }))).code, { timeout: 120_000 })
      .toBe('unknown_datastore');
    expect(await errorOf(() => definitions.deleteDatastore('shop', { confirm: 'shop' }))).toMatchObject({
      code: 'unknown_datastore',
    });
  });

  it('lets a datastore that was deleted come back with another number of shards, and one that is there not', async () => {
    const yaml = (shards: number) => ({ 'inn/datastore.yaml': `datastore: inn\nshards: ${shards}\n` });
    const deployed = write('deployed', yaml(2));
    await stack().takeOver();
    rmSync(join(deployed, 'inn'), { recursive: true });
    await stack().takeOver();
    write('deployed', yaml(3));
    await expect(stack().takeOver()).rejects.toThrow(
      `${join(deployed, 'inn/datastore.yaml')}:2: shards: wanted 2, with which the datastore inn was created, got 3`,
    );
    await definitionsClient({ url: stack().url }).deleteDatastore('inn', { confirm: 'inn' });
    await forgetDeletion('inn');
    await stack().takeOver();
    expect(stack().datastores.map(({ name, shards }) => [name, shards])).toContainEqual(['inn', 3]);
  });
});
