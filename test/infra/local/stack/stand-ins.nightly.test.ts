import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ListQueuesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { PROJECT_ROOT } from '../../../../infra/app-context.ts';
import { isRunning } from '../../../../infra/local/platform/process-table.ts';
import { loadTriggers } from '../../../../infra/local/stack/load-triggers.ts';
import { startLocalStack } from '../../../../infra/local/stack/local-stack.ts';
import type { LocalStackOptions } from '../../../../infra/local/stack/local-stack-options.ts';
import type { LocalStack } from '../../../../infra/local/running/running-stack.ts';
import { refusalsIn } from '../../../support/local-stack.ts';
import { queueAt, sqsClient, texts, type FifoQueue } from '../../support/fifo-queue.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';
import { localCommand } from '../../support/local-command.ts';
import { STAND_IN_PROJECT, STAND_INS } from '../../support/synthesized.ts';
import { writeFiles } from '../../support/write-files.ts';

/** A whole stack with small functions, started three times. */
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
const trigger = (name: string, columns: string, file?: string): string =>
  `trigger: ${name}\ndatastore: trips\ncolumns: ${columns}\nstart: 0\n${file ? `function: functions/${file}.ts\n` : ''}`;
const SECRET = expect.stringMatching(/^arn:aws:secretsmanager:/u);

const folder = folderOfTests();
const data = join(folder.path, 'data');
const datastores = writeFiles(join(folder.path, 'datastores'), {
  'trips/datastore.yaml': 'datastore: trips\nshards: 4\n',
  'trips/triggers/charge_rider.yaml': trigger('charge_rider', '[BASE]', 'charge-rider'),
  'trips/triggers/slow_rider.yaml': trigger('slow_rider', '[BASE]', 'slow-rider'),
  'trips/triggers/broken.yaml': trigger('broken', '[NONE]', 'broken'),
  'trips/triggers/elsewhere.yaml': trigger('elsewhere', "'*'"),
});
const local = localCommand(data);
const output: string[] = [];
let stack: LocalStack;
let client: SQSClient;

async function start(more: Partial<LocalStackOptions> = {}): Promise<void> {
  stack = await startLocalStack({
    port: 0,
    data,
    engine: inject('servers').engine.kind,
    access: 'mysql',
    groups: 1,
    readers: 0,
    shards: 4,
    restartAfterSeconds: 0,
    datastores,
    functionsFolder: STAND_INS,
    app: join(import.meta.dirname, '../../support/app-with-route.ts'),
    projectFolder: STAND_IN_PROJECT,
    log: (line) => output.push(line),
    ...more,
  });
  client = sqsClient(stack.endpoints.sqs);
}

async function stop(): Promise<void> {
  client?.destroy();
  await stack?.stop();
}

beforeAll(() => start());
afterAll(() => stop());

function queueOf(name: string): FifoQueue {
  const found = stack.queues().find((queue) => queue.name.includes(`trips${name}queue`));
  if (!found) throw new Error(`no queue of ${name} among ${JSON.stringify(stack.queues())}`);
  return queueAt(client, found.url);
}

const log = (): string => readFileSync(stack.functionLog, 'utf8');
/** The slots of tail-shards that were started. */
const slots = (text = log()): readonly number[] =>
  [...new Set(text.match(/(?<=tail-shards tailed \{"slot":)\d+/gu))].map(Number).sort();
const answerOf = async (path: string, method = 'GET') =>
  Object(await (await fetch(`${stack.url}${path}`, { method })).json());

describe('a local stack', () => {
  it('gives functions what the template says, worked out, and hands what is no route to one that says so', async () => {
    const { environment } = await answerOf('/v1/health');
    expect(environment).toMatchObject({
      SCHEMALESS_ENVIRONMENT: 'local',
      SCHEMALESS_TOPOLOGY_TABLE: expect.stringMatching(/^Schemaless-local-storage-tablestopology/u),
      SCHEMALESS_BUFFER_COPIES: '0',
    });
    // The route of an app of one's own.
    expect((await answerOf('/added/something')).event).toMatchObject({ pathParameters: { thing: 'something' } });
    expect((await answerOf('/v1/foo', 'PATCH')).event).toMatchObject({ routeKey: 'PATCH /{proxy+}' });
  });

  it('hands the groups to the migration with every value as text, and starts the schedules', async () => {
    const [, properties = '{}'] = /migration\/onEvent Create (.*)$/mu.exec(log()) ?? [];
    const [group] = stack.groups.groups;
    const writer = { host: group?.writerEndpoint.host, port: String(group?.writerEndpoint.port) };
    const node = { host: group?.instanceEndpoints[0]?.host, port: String(group?.instanceEndpoints[0]?.port) };
    expect(JSON.parse(properties)).toMatchObject({
      Groups: [
        {
          name: 'group-1',
          writer,
          reader: { host: group?.readerEndpoint.host, port: writer.port },
          nodes: [node],
          sharedStorage: 'false',
          clusterArn: 'arn:aws:rds:us-east-1:000000000000:cluster:group-1',
          secret: SECRET,
          userSecrets: { read: SECRET, tail: SECRET, write: SECRET, repair: SECRET, move: SECRET, erase: SECRET },
        },
      ],
      Datastores: [{ name: 'trips', shards: '4' }],
    });
    for (const done of ['drain-buffer drained', 'maintenance repaired'])
      await expect.poll(log).toMatch(new RegExp(`${done} \\{"version":"0",.*"Scheduled Event"`, 'u'));
  });

  it('keeps endpoints.json true, for its owner alone', async () => {
    const file = join(data, 'endpoints.json');
    const read = () => JSON.parse(readFileSync(file, 'utf8'));
    expect(read()).toEqual(stack.endpoints);
    expect(read()).toMatchObject({ http: stack.url, groups: [{ name: 'group-1', readers: [] }] });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { pid } = read().groups[0].writer;
    expect(await local('kill', 'group-1-a')).toEqual({ code: 0, text: 'killed group-1-a\n' });
    expect(isRunning(pid)).toBe(false);
    await expect.poll(() => read().groups[0].writer.pid).toBe(0);
    await stack.groups.restart('group-1-a');
    await expect.poll(() => isRunning(read().groups[0].writer.pid)).toBe(true);
  });

  it('shows what a request left in the logs, by the id of its answer', async () => {
    const answer = await fetch(`${stack.url}/v1/health?secret=1`, { headers: { 'x-request-id': 'two words' } });
    const id = answer.headers.get('apigw-requestid') ?? '';
    const { text } = await local('logs', id);
    expect(text).toMatch(/ gateway route=GET \/v1\/health .*status=201/u);
    expect(text).not.toContain('secret');
    const line: unknown = JSON.parse((await local('logs', id, '--format', 'ndjson')).text);
    expect(line).toMatchObject({ function: 'gateway', request_id: id });
    expect(await local('logs', 'absent')).toEqual({ code: 1, text: 'nothing was logged of the request absent\n' });
  });

  it('can be asked how it is and what it takes, and keeps its folder for itself', async () => {
    const { text } = await local('status');
    expect(text).toMatch(/^group-1-a +writer +running +127\.0\.0\.1:\d+ +pid \d+$/mu);
    expect(text).toMatch(/^read-cells +1 running +\d+ calls?, 0 failed$/mu);
    expect(text).toMatch(/^memory: [\d,]+ MB and [\d,]+ MB of the servers; disk: [\d,]+ MB$/mu);
    const usage = (await local('usage', '--seconds', '1')).text;
    const [, disk, files] = /^disk: ([\d,]+) MB, in files of ([\d,]+) MB$/mu.exec(usage) ?? [];
    // Of an empty store most is logs to come: they are long, and take no room yet.
    expect(Number(files)).toBeGreaterThan(Number(disk));
    for (const part of ['stack and its functions', 'group-1-a'])
      expect(usage).toMatch(new RegExp(`^${part} +pid \\d+ +[\\d,]+ MB +\\d+\\.\\d %$`, 'mu'));
    expect(await local('pause', 'other')).toEqual({ code: 1, text: 'node: wanted one of group-1-a, got other\n' });
    const inUse = { code: 1, text: expect.stringContaining('is in use by process') };
    expect(await local('reset', '--yes')).toMatchObject(inUse);
    await expect(startLocalStack({ port: 0, data, groups: 1, readers: 0 })).rejects.toThrow(/is in use by process/u);
    await expect(startLocalStack({ port: 0, data: PROJECT_ROOT })).rejects.toThrow(
      /^--data: wanted an empty folder or one of a local stack/u,
    );
  });
});

describe('its triggers and tailers', () => {
  it('have their function called with the messages of their queue, and are named where it cannot be loaded', async () => {
    await queueOf('chargerider').send('17:cell');
    await expect.poll(log).toMatch(/trigger-trips-charge_rider charged \{"Records":\[\{.*"body":"17:cell"/u);
    await expect.poll(() => queueOf('chargerider').count()).toEqual({ visible: 0, held: 0 });
    expect(await loadTriggers(stack)).toEqual([
      expect.stringMatching(/^trigger broken of trips fails for every cell: .*no table of fares/u),
    ]);
  });

  it('are shown with their queues, also while SQS is unavailable, and continue after it', async () => {
    await queueOf('elsewhere').send('3:kept', '4:kept');
    const { text } = await local('status');
    expect(text).toMatch(/^triggers, sent to by 1 tailer$/mu);
    expect(text).toMatch(/^trips\/charge_rider +not known: the API does not say$/mu);
    expect(text).toMatch(/chargeriderqueue\S+\.fifo +0 waiting, 0 held +calls trigger-trips-charge_rider, 0 now$/mu);
    expect(text).toMatch(/tripselsewherequeue\S+\.fifo +2 waiting, 0 held$/mu);
    expect(await local('kill', 'sqs')).toEqual({ code: 0, text: 'killed sqs\n' });
    expect((await local('status')).text).toMatch(/tripselsewherequeue\S+\.fifo +SQS is away$/mu);
    expect(await local('resume', 'sqs')).toEqual({ code: 0, text: 'resumed sqs\n' });
    await queueOf('chargerider').send('17:after SQS was away');
    await expect.poll(log).toContain('"body":"17:after SQS was away"');
  });

  it('can be more or fewer tailers at any time, and stay as many while DynamoDB is unavailable', async () => {
    await expect.poll(() => slots()).toEqual([0]);
    expect(await local('tailers', '3')).toEqual({ code: 0, text: '3 tailers\n' });
    await expect.poll(() => slots()).toEqual([0, 1, 2]);
    expect(await local('tailers', '2')).toEqual({ code: 0, text: '2 tailers\n' });
    expect(await local('kill', 'dynamodb')).toEqual({ code: 0, text: 'killed dynamodb\n' });
    expect(await local('tailers', '1')).toMatchObject({ code: 1 });
    expect(await local('resume', 'dynamodb')).toEqual({ code: 0, text: 'resumed dynamodb\n' });
    expect(stack.tailers.count).toBe(2);
  });
});

describe('a local stack that is stopped and started again', () => {
  it('lets the calls under way end, keeps what is queued, and has as many tailers as before', async () => {
    await queueOf('slowrider').send('1:slow');
    await expect.poll(log).toMatch(/slow_rider began$/mu);
    const before = log().length;
    await stop();
    expect(log()).toMatch(/slow_rider ended$/mu);
    await start();
    expect(texts(await queueOf('elsewhere').receive())).toEqual(['3:kept', '4:kept']);
    expect(await queueOf('slowrider').count()).toEqual({ visible: 0, held: 0 });
    await expect.poll(() => slots(log().slice(before))).toEqual([0, 1]);
  });

  it('has as many tailers as its start says, and deletes the queues of triggers that are not defined any more', async () => {
    await stop();
    rmSync(join(datastores, 'trips/triggers/elsewhere.yaml'));
    const before = log().length;
    output.length = 0;
    await start({ tailers: 1 });
    await expect.poll(() => slots(log().slice(before))).toEqual([0]);
    const names = ((await client.send(new ListQueuesCommand({}))).QueueUrls ?? []).join('\n');
    expect(names).not.toMatch(/tripselsewhere/u);
    expect(names).toMatch(/tripschargeriderqueue/u);
    expect(output.filter((line) => line.includes('elsewhere'))).toEqual([
      expect.stringMatching(/^deleted the queue \S+tripselsewhereparked\S+\.fifo, which is not defined any more$/u),
      expect.stringMatching(/^deleted the queue \S+tripselsewherequeue\S+\.fifo, .* any more, with 2 messages$/u),
    ]);
  });

  it('leaves nothing behind, and its data can be deleted then', async () => {
    const pids = stack.groups.status().map(({ pid }) => pid);
    await stop();
    expect(refusalsIn(stack.functionLog)).toEqual([]);
    expect(pids.filter((pid) => isRunning(pid))).toEqual([]);
    await expect(fetch(stack.url)).rejects.toThrow('fetch failed');
    expect(await local('status')).toMatchObject({ code: 1, text: expect.stringMatching(/^No stack runs on /u) });
    expect(await local('reset')).toMatchObject({ code: 1, text: expect.stringContaining('--yes') });
    expect(await local('reset', '--yes')).toMatchObject({ code: 0 });
    expect(statSync(data, { throwIfNoEntry: false })).toBeUndefined();
  });
});
