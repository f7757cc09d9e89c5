import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startLocalStack } from '../../../../infra/local/stack/local-stack.ts';
import { isRunning } from '../../../../infra/local/process-table.ts';
import { PROJECT_ROOT } from '../../../../infra/app-context.ts';
import { STAND_INS } from '../../support/synthesized.ts';
import { localStack, refusalsIn } from '../../../support/local-stack.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { localCommand } from '../../support/local-command.ts';

const SECRET = expect.stringMatching(/^arn:aws:secretsmanager:/u);
const folder = temporaryFolder();
const data = join(folder.path, 'data');
const stack = localStack(
  folder,
  {
    // On the second engine, too, where the run is over the Data API.
    access: 'mysql',
    restartAfterSeconds: 0,
    functionsFolder: STAND_INS,
    app: join(import.meta.dirname, '../../support/app-with-route.ts'),
  },
  false,
);

const local = localCommand(data);

describe('a local stack', () => {
  it('answers a route that was added in the CDK app alone', async () => {
    const { event } = Object(await (await fetch(`${stack().url}/added/something`)).json());
    expect(event).toMatchObject({ routeKey: 'GET /added/{thing}', pathParameters: { thing: 'something' } });
  });

  it('hands what is no route to the function that says so', async () => {
    const { event } = Object(await (await fetch(`${stack().url}/v1/foo`, { method: 'PATCH' })).json());
    expect(event).toMatchObject({ routeKey: 'PATCH /{proxy+}', rawPath: '/v1/foo' });
  });

  it('gives functions what the template says, worked out', async () => {
    const { environment } = Object(await (await fetch(`${stack().url}/v1/health`)).json());
    expect(environment).toMatchObject({
      SCHEMALESS_ENVIRONMENT: 'local',
      SCHEMALESS_TOPOLOGY_TABLE: expect.stringMatching(/^Schemaless-local-storage-tablestopology/u),
      SCHEMALESS_BUFFER_COPIES: '0',
      QUEUE_URL: expect.stringMatching(new RegExp(`^${stack().endpoints.sqs}/000000000000/.*\\.fifo$`, 'u')),
      QUEUE_ARN: expect.stringMatching(/^arn:aws:sqs:us-east-1:000000000000:.*\.fifo$/u),
    });
    const queue = await fetch(stack().endpoints.sqs, {
      method: 'POST',
      headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.GetQueueUrl' },
      body: JSON.stringify({ QueueName: environment.QUEUE_URL.split('/').at(-1) }),
    });
    expect(queue.status).toBe(200);
  });

  it('hands the groups to the migration with every value as text, and starts the schedules', async () => {
    const log = readFileSync(stack().functionLog, 'utf8');
    const [, properties = '{}'] = /migration\/onEvent Create (.*)$/mu.exec(log) ?? [];
    const [group] = stack().groups.groups;
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
      Datastores: [
        { name: 'smoke', shards: '4' },
        {
          name: 'trips',
          shards: '4',
          indexes: expect.stringMatching(/^\[\{"name":"driver_partner_index","fields":\[/u),
        },
      ],
    });
    await expect
      .poll(() => readFileSync(stack().functionLog, 'utf8'))
      .toMatch(/drain-buffer drained \{"version":"0",.*"Scheduled Event"/u);
    await expect
      .poll(() => readFileSync(stack().functionLog, 'utf8'))
      .toMatch(/repair-indexes repaired \{"version":"0",.*"Scheduled Event"/u);
  });

  it('keeps endpoints.json true, for its owner alone', async () => {
    const file = join(data, 'endpoints.json');
    const read = () => JSON.parse(readFileSync(file, 'utf8'));
    expect(read()).toEqual(stack().endpoints);
    expect(read()).toMatchObject({
      http: stack().url,
      groups: [{ name: 'group-1', writer: { host: '127.0.0.1', user: stack().groups.groups[0]?.user }, readers: [] }],
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { pid } = read().groups[0].writer;
    expect(await local('kill', 'group-1-a')).toEqual({ code: 0, text: 'killed group-1-a\n' });
    expect(isRunning(pid)).toBe(false);
    await expect.poll(() => read().groups[0].writer.pid).toBe(0);
    await stack().groups.restart('group-1-a');
    await expect.poll(() => isRunning(read().groups[0].writer.pid)).toBe(true);
  });

  it('shows what a request left in the logs, by the id of its answer', async () => {
    const answer = await fetch(`${stack().url}/v1/health?secret=1`, { headers: { 'x-request-id': 'two words' } });
    const id = answer.headers.get('apigw-requestid') ?? '';
    const shown = await local('logs', id);
    expect(shown).toMatchObject({
      code: 0,
      text: expect.stringMatching(/ gateway route=GET \/v1\/health .*status=201/u),
    });
    expect(shown.text).not.toContain('secret');
    expect(JSON.parse((await local('logs', id, '--format', 'ndjson')).text)).toMatchObject({
      function: 'gateway',
      request_id: id,
    });
    expect(await local('logs', 'nobody')).toEqual({
      code: 1,
      text: 'nothing was logged of the request nobody\n',
    });
    expect(await local('logs', '--since', 'yesterday')).toMatchObject({
      code: 1,
      text: expect.stringContaining('Wanted a time such as 2026-11-24T08:00:00Z, or 30s, 5m, 2h, 1d, got "yesterday"'),
    });
  });

  it('can be asked and told what to do', async () => {
    const { text } = await local('status');
    expect(text).toMatch(/^group-1-a +writer +running +127\.0\.0\.1:\d+ +pid \d+$/mu);
    expect(text).toMatch(/^read-cells +1 running +\d+ calls?, 0 failed$/mu);
    const [, own, servers, disk] =
      /^memory: ([\d,]+) MB and ([\d,]+) MB of the servers; disk: ([\d,]+) MB$/mu.exec(text) ?? [];
    // A process of Node, a server, and its empty files.
    for (const figure of [own, servers]) expect(Number(figure?.replace(',', ''))).toBeGreaterThan(40);
    expect(Number(disk?.replace(',', ''))).toBeGreaterThan(5);
    expect(await local('pause', 'other')).toEqual({ code: 1, text: 'node: wanted one of group-1-a, got other\n' });
    expect(await local('promote', 'group-9')).toMatchObject({
      code: 1,
      text: expect.stringContaining('wanted one of group-1'),
    });
    expect(await local('reset', '--yes')).toMatchObject({
      code: 1,
      text: expect.stringContaining('is in use by process'),
    });
  });

  it('says part by part what it takes', async () => {
    const { text } = await local('usage', '--seconds', '1');
    const [, disk, files] = /^disk: ([\d,]+) MB, in files of ([\d,]+) MB$/mu.exec(text) ?? [];
    expect(Number(disk)).toBeGreaterThan(5);
    // An empty store, of which most is logs to come: they are long, and take no room yet.
    expect(Number(files)).toBeGreaterThan(Number(disk));
    const [, memory] = /^memory: ([\d,]+) MB \(PSS\)$/mu.exec(text) ?? [];
    expect(Number(memory)).toBeGreaterThan(40);
    expect(text).toMatch(/^processor: \d+\.\d % of a core, over 1 s$/mu);
    expect(text).toMatch(/^stack and its functions +pid \d+ +[\d,]+ MB +\d+\.\d %$/mu);
    expect(text).toMatch(/^group-1-a +pid \d+ +[\d,]+ MB +\d+\.\d %$/mu);
    expect(text).toMatch(/^\d+ ib_?\S* +[\d,]+ MB +of [\d,]+ MB$/mu);
    const usage: unknown = JSON.parse((await local('usage', '--seconds', '1', '--json')).text);
    expect(usage).toMatchObject({
      disk: { taken: expect.any(Number) },
      processes: [{ title: 'stack and its functions', threads: expect.any(Array) }, { title: 'group-1-a' }],
    });
  });

  it('lets nobody use its folder beside it', async () => {
    await expect(startLocalStack({ port: 0, data, groups: 1, readers: 0 })).rejects.toThrow(/is in use by process/u);
    await expect(startLocalStack({ port: 0, data: PROJECT_ROOT })).rejects.toThrow(
      /^--data: wanted an empty folder or one of a local stack/u,
    );
  });

  it('leaves nothing behind when it stops, and its data can be deleted then', async () => {
    const pids = stack()
      .groups.status()
      .map(({ pid }) => pid);
    await stack().stop();
    expect(refusalsIn(stack().functionLog)).toEqual([]);
    expect(pids.filter((pid) => isRunning(pid))).toEqual([]);
    await expect(fetch(stack().url)).rejects.toThrow('fetch failed');
    expect(await local('status')).toMatchObject({ code: 1, text: expect.stringMatching(/^No stack runs on /u) });
    expect(await local('reset')).toMatchObject({ code: 1, text: expect.stringContaining('--yes') });
    expect(await local('reset', '--yes')).toMatchObject({ code: 0 });
    expect(statSync(data, { throwIfNoEntry: false })).toBeUndefined();
  });
});
