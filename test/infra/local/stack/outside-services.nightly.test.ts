import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { paginateListTables, ScanCommand } from '@aws-sdk/client-dynamodb';
import { ListQueuesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { schemalessClient } from '../../../../shared/client/client.ts';
import { dynamoClient } from '../../../support/dynamo.ts';
import { localStack } from '../../../support/local-stack.ts';
import '../../../support/skip-without-aws.ts';
import { sqsClient } from '../../support/fifo-queue.ts';
import { STAND_IN_PROJECT } from '../../support/synthesized.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { writeFiles } from '../../support/write-files.ts';

const FILES = {
  'trips/datastore.yaml': 'datastore: trips\nshards: 4\n',
  'trips/triggers/charge_rider.yaml':
    'trigger: charge_rider\ndatastore: trips\ncolumns: [BASE]\nfunction: functions/charge-rider.ts\nstart: 0\n',
};

const folder = temporaryFolder();
const data = join(folder.path, 'data');
const output: string[] = [];
let outside: { readonly sqs: string; readonly dynamodb: string };
let serving: ChildProcess | undefined;

async function serve(): Promise<typeof outside> {
  serving = spawn(process.execPath, [join(import.meta.dirname, '../../support/serve-aws.ts'), folder.path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(serving.stdout ?? serving, 'data');
  return JSON.parse(String(line)) as typeof outside;
}

beforeAll(async () => {
  outside = inject('servers').outsideAws ?? (await serve());
  vi.stubEnv('AWS_ENDPOINT_URL_SQS', outside.sqs);
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', outside.dynamodb);
});
afterAll(() => {
  vi.unstubAllEnvs();
  serving?.kill();
});
const datastores = writeFiles(join(folder.path, 'datastores'), FILES);
const log = (line: string): void => void output.push(line);
const stack = localStack(folder, { restartAfterSeconds: 0, datastores, projectFolder: STAND_IN_PROJECT, log });

describe('a local stack whose SQS and DynamoDB run elsewhere', () => {
  it('calls the function of a trigger for a cell through them', async () => {
    const row_key = randomUUID();
    const trips = schemalessClient({ url: stack().url, datastore: 'trips' });
    await trips.put({ row_key, column_name: 'BASE', ref_key: 1, body: { fare: 12 } });
    await expect
      .poll(() => readFileSync(stack().functionLog, 'utf8'))
      .toMatch(new RegExp(`trigger-trips-charge_rider charged .*${row_key}`, 'u'));
  });

  it('has its queues and tables there, named after its data, and nothing in emulators of its own', async () => {
    const id = readFileSync(join(data, 'stack-id'), 'utf8');
    for (const [name, url] of [
      ['SQS', outside.sqs],
      ['DynamoDB', outside.dynamodb],
    ] as const)
      expect(output).toContain(
        `${name} is at ${url}, as AWS_ENDPOINT_URL_${name.toUpperCase()} says; what this stack has there ends with -${id}`,
      );
    const [sqs, dynamodb] = [sqsClient(outside.sqs), dynamoClient(outside.dynamodb)];
    onTestFinished(async () => {
      sqs.destroy();
      dynamodb.destroy();
    });
    const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({}));
    const ours = stack()
      .queues()
      .map(({ name }) => name);
    expect(ours).toContainEqual(expect.stringMatching(new RegExp(`charge.*-${id}\\.fifo$`, 'u')));
    for (const name of ours) expect(QueueUrls).toContainEqual(expect.stringContaining(`/${name}`));

    const tables = (
      await Array.fromAsync(paginateListTables({ client: dynamodb }, {}), ({ TableNames = [] }) => TableNames)
    ).flat();
    expect(stack().endpoints.tables).toContainEqual(expect.stringMatching(new RegExp(`tablestopology.*-${id}$`, 'u')));
    expect(tables).toEqual(expect.arrayContaining([...stack().endpoints.tables]));
    // There are no keys without sealed fields.
    for (const TableName of stack().endpoints.tables.filter((name) => !name.includes('tableskeys')))
      expect((await dynamodb.send(new ScanCommand({ TableName, Select: 'COUNT' }))).Count).toBeGreaterThan(0);
    expect(stack().endpoints).toMatchObject({ sqs: outside.sqs, dynamodb: outside.dynamodb });
    expect([existsSync(join(data, 'sqs')), existsSync(join(data, 'dynamodb'))]).toEqual([false, false]);
  });

  it('does not end them', async () => {
    await expect(stack().services.sqs.kill()).rejects.toThrow(
      "AWS_ENDPOINT_URL_SQS says that this service runs elsewhere: it is not the local stack's to end",
    );
    await stack().stop();
    expect((await fetch(outside.dynamodb)).status).toBeGreaterThan(0);
    expect((await fetch(outside.sqs)).status).toBeGreaterThan(0);
  });
});
