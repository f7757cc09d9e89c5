import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { checkExport, type CheckReport } from '../../../infra/cli/files/export/check-export.ts';
import type { Cell } from '../../../shared/cell.ts';
import { schemalessClient, type SchemalessClient } from '../../../shared/client/client.ts';
import { leases, type Lease, type Leases } from '../../../shared/dynamo/lease.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { leaseOf, runExport, type ExportRunOptions } from '../../../shared/files/run-export.ts';
import { s3Target } from '../../../shared/files/s3-target.ts';
import type { ExportTarget } from '../../../shared/files/target.ts';
import { localStack } from '../../support/local-stack.ts';
import { dynamoClient, newTable, startDynamo, type LocalDynamo } from '../../support/dynamo.ts';
import { exportedLines, openBucket, type Bucket } from '../../support/files/bucket.ts';
import { allCells } from '../../support/files/kill-and-resume.ts';
import { readings } from '../../support/files/readings.ts';
import { until } from '../../support/until.ts';
import { temporaryFolder } from '../../infra/support/temporary-folder.ts';

const SHARDS = 64;
const CELLS = 4000;
const FUNCTION = fileURLToPath(new URL('../../support/files/run-export-function.ts', import.meta.url));
const MINUTE_MS = 60_000;
const folder = temporaryFolder();
const stack = localStack(folder, {
  groups: 3,
  shards: SHARDS,
  datastores: join(PROJECT_ROOT, 'test/support/files/datastores'),
});
let client: SchemalessClient;
let dynamo: LocalDynamo;
let table: DynamoTable;
let bucket: Bucket;
let target: ExportTarget;
let prefix: string;
let count = 0;
let written = 0;

beforeAll(async () => {
  client = schemalessClient({ url: stack().url, datastore: 'readings' });
  dynamo = await startDynamo();
  table = await newTable(dynamoClient(dynamo.url));
  bucket = await openBucket(join(folder.path, 's3'));
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  await write(CELLS);
}, 240_000);
afterAll(async () => {
  table?.client.destroy();
  await bucket?.close();
  await dynamo?.stop();
});
beforeEach(async () => {
  count += 1;
  prefix = `export-${count}`;
  target = await s3Target(bucket.name, `${prefix}/`, { endpoint: bucket.url, region: 'us-east-1' });
  return () => target.close();
});

async function write(cells: number): Promise<void> {
  written += 1;
  // So many rows that each shard has some.
  const all = [...readings({ cells, rows: 2000, seed: `scheduled ${written}` })];
  for (let from = 0; from < all.length; from += 100) {
    const results = await client.batchPut(all.slice(from, from + 100));
    for (const { outcome } of results) expect(outcome).toBe('stored');
  }
}

const leasesOf = (owner: string, durationMs = MINUTE_MS): Leases => leases(table, owner, durationMs);

const NEVER = new AbortController().signal;

function run(requests: Partial<ExportRunOptions> = {}, from: SchemalessClient = client): ReturnType<typeof runExport> {
  return runExport(from, {
    target,
    format: 'ndjson',
    read: 'writer',
    leases: leasesOf(`run ${Math.random()}`),
    signal: NEVER,
    last: NEVER,
    ...requests,
  });
}

async function expectWhole(): Promise<void> {
  const cells: Cell[] = [];
  for await (const cell of allCells(client)) cells.push(cell);
  const inOrder = (lines: readonly Record<string, unknown>[]): readonly string[] =>
    lines.map((line) => JSON.stringify([line['row_key'], line['ref_key'], line['added_id'], line['body']])).toSorted();
  const lines = await exportedLines(bucket, prefix);
  expect(lines).toHaveLength(cells.length);
  expect(inOrder(lines)).toEqual(inOrder(cells.map((cell) => ({ ...cell }))));
  expect(await check()).toMatchObject({ cells: cells.length, faults: [] });
}

const check = (): Promise<CheckReport> => checkExport(target);

/** The same, and says when a file is stored. */
function telling(stored: (path: string) => void | Promise<void>): ExportTarget {
  return {
    ...target,
    async store(scratch, path) {
      await target.store(scratch, path);
      await stored(path);
    },
  };
}

/** The datastore, whose logs come otherwise, and by what the run ends its requests. */
function otherLogs(log: SchemalessClient['log']): SchemalessClient & { held: AbortSignal | undefined } {
  const other: ReturnType<typeof otherLogs> = {
    ...client,
    log,
    held: undefined,
    with({ signal }) {
      other.held = signal;
      return other;
    },
  };
  return other;
}

test('a run writes what is there, the next one what came since, and one without anything new nothing', async () => {
  expect(await run()).toMatchObject({ parts: ['part-0001'], left: 0, silent: 0, behindSeconds: 0 });
  await write(300);
  expect(await run()).toMatchObject({ parts: ['part-0002'], cells: 300, left: 0 });
  const before = await bucket.keys();
  expect(await run()).toMatchObject({ parts: [], cells: 0, behindSeconds: 0 });
  expect(await bucket.keys()).toEqual(before);
  await expectWhole();
});

test('files end when they are full, and the next part goes on where each of them ended', async () => {
  const report = await run({ fileBytes: 2000 });
  // An answer has up to a thousand cells of a shard: that alone is more than a file holds.
  expect(report).toMatchObject({ left: 0, behindSeconds: 0 });
  await write(1500);
  await run(
    { fileBytes: 2000 },
    otherLogs((asked, options) => client.log(asked, { ...options, limit: 10 })),
  );
  const parts = new Set((await bucket.keys()).filter((key) => key.startsWith(prefix)).map((key) => key.split('/')[1]));
  expect(parts.size).toBeGreaterThan(3);
  await expectWhole();
});

test('cut short it keeps what has come, says how far it is behind, and the next runs go on with the rest', async () => {
  /** A few cells of a shard with each answer, and the end of the run's time comes with one of them. */
  const cutAt = (answer: number): ReturnType<typeof runExport> => {
    const end = new AbortController();
    let asked = 0;
    const slow = otherLogs(async (locations, options) => {
      asked += 1;
      if (asked === answer) end.abort();
      return client.log(locations, { ...options, limit: 3 });
    });
    return run({ signal: end.signal }, slow);
  };
  // Of 48 shards some cells have come, nothing of the others.
  const first = await cutAt(3);
  expect(first).toMatchObject({ parts: [], silent: 0 });
  expect(await storedFiles()).toHaveLength(48);
  expect(first?.left).toBeGreaterThan(0);
  expect(first?.behindSeconds).toBeGreaterThan(0);
  // Now of those, too: each shard had its turn.
  const second = await cutAt(1);
  expect(second).toMatchObject({ parts: ['part-0001'], silent: 0 });
  expect(second?.left).toBeGreaterThan(0);
  expect(second?.behindSeconds).toBeGreaterThan(0);
  expect(await check()).toMatchObject({ faults: [] });

  expect(await run()).toMatchObject({ parts: ['part-0002'], left: 0, behindSeconds: 0 });
  await expectWhole();
});

test('killed with SIGKILL, again and again, it is in the end what it would have been', async () => {
  let kills = 0;
  for (const stored of [1, 9]) {
    const child = startFunction({ SCHEMALESS_EXPORT_FORMAT: 'ndjson' });
    const ended = once(child, 'close');
    await until('files are stored', async () => child.exitCode !== null || (await storedFiles()).length >= stored);
    child.kill('SIGKILL');
    await ended;
    if (child.exitCode === null) kills += 1;
  }
  expect(kills).toBeGreaterThanOrEqual(1);
  await expect(check()).rejects.toMatchObject({ code: 'bad_input' });
  // The next run takes the lease of a killed one after 3 seconds of silence, not the function's own minute.
  await write(100);
  expect(await run({ leases: leasesOf('the next', 3000) })).toMatchObject({ left: 0 });
  await run();
  await expectWhole();
}, 600_000);

test('the function writes Parquet, and gives its figures under the name of its place', async () => {
  const { code, stdout } = await endOf(startFunction({ SCHEMALESS_EXPORT_FORMAT: 'parquet' }));

  expect(code).toBe(0);
  const lines = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const results = lines.find((line) => 'export_behind_seconds' in line);
  expect(results).toMatchObject({ service: 'test', export: `s3://lake/${prefix}`, export_left_cells: 0 });
  const { cells } = await check();
  expect(results).toMatchObject({ export_cells: cells, export_behind_seconds: 0 });
  const file = join(folder.path, 'shard.parquet');
  writeFileSync(file, await bucket.read(`${prefix}/part-0001/0003.parquet`));
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(file) });
  const [log] = await client.log([{ shard: 3, after: 0 }], { limit: 1000 });
  if (!log || log.error !== undefined) throw log?.error ?? new Error('no log');
  expect(rows.map(({ added_id, body }) => [Number(added_id), JSON.parse(String(body))])).toEqual(
    log.cells.map(({ added_id, body }) => [added_id, body]),
  );
});

test('a second run at the same time writes nothing, and one that lost its lease writes no more', async () => {
  let meanwhile: Promise<unknown> | undefined;
  await run({ target: telling(async () => void (await (meanwhile ??= run({ busyMs: 100 })))) });
  expect(meanwhile).toBeDefined();
  expect(await meanwhile).toBeUndefined();
  await expectWhole();

  await write(500);
  const before = await bucket.keys();
  let stealing: Promise<void> | undefined;
  const losing = otherLogs(async (...parameters) => {
    await (stealing ??= steal(losing.held));
    return client.log(...parameters);
  });
  await expect(run({ renewMs: 300 }, losing)).rejects.toThrow(/abort/iu);
  expect((await bucket.keys()).filter((key) => !before.includes(key) && !key.includes('/_'))).toEqual([]);
  await run();
  await expectWhole();
});

/** Takes the lease as from one that was silent, and gives it up once its holder has noticed. */
async function steal(held: AbortSignal | undefined): Promise<void> {
  const thief = leasesOf('thief', 0);
  let lease: Lease | undefined;
  while (!lease) lease = await thief.take(leaseOf(target));
  if (held && !held.aborted) await once(held, 'abort');
  await thief.release(lease);
}

test('a shard that gives nothing is left out of the part, keeps no other back, and comes later', async () => {
  await run();
  await write(1000);
  const error = new SchemalessError('unavailable', 'its group is down');
  const down = otherLogs(async (asked, options) =>
    (await client.log(asked, options)).map((log) => (log.shard < 4 ? { shard: log.shard, error } : log)),
  );
  const headless: SchemalessClient = {
    ...down,
    with: () => headless,
    heads: async () => (await client.heads()).map((head) => (head.shard < 4 ? { ...head, error } : head)),
  };

  const report = await run({ patienceMs: 0 }, down);
  expect(report).toMatchObject({ parts: ['part-0002'], silent: 4 });
  expect(report?.behindSeconds).toBeGreaterThan(0);
  // With nothing else to write there is no part of nothing.
  expect(await run({ patienceMs: 0 }, down)).toMatchObject({ parts: [], cells: 0, silent: 4 });
  expect(await run()).toMatchObject({ parts: ['part-0003'], silent: 0, left: 0, behindSeconds: 0 });

  // The same where the heads are unknown.
  await write(1000);
  const unknown = await run({}, headless);
  expect(unknown).toMatchObject({ parts: ['part-0004'], silent: 4 });
  expect(unknown?.behindSeconds).toBeGreaterThan(0);
  await expect(run({}, headless)).rejects.toMatchObject({ code: 'unavailable' });
  expect(await run()).toMatchObject({ parts: ['part-0005'], silent: 0, left: 0, behindSeconds: 0 });
  await expectWhole();
});

function startFunction(variables: Readonly<Record<string, string>>): ChildProcess {
  return spawn(process.execPath, [FUNCTION, String(15 * MINUTE_MS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL_S3: bucket.url,
      AWS_ENDPOINT_URL_DYNAMODB: dynamo.url,
      SCHEMALESS_ENVIRONMENT: 'test',
      SCHEMALESS_STATE_TABLE: table.table,
      SCHEMALESS_API_URL: stack().url,
      SCHEMALESS_DATASTORE: 'readings',
      SCHEMALESS_EXPORT_TO: `s3://lake/${prefix}`,
      SCHEMALESS_EXPORT_COMPRESSION: 'gzip',
      SCHEMALESS_EXPORT_READ: 'writer',
      ...variables,
    },
  });
}

async function endOf(child: ChildProcess): Promise<{ readonly code: number | null; readonly stdout: string }> {
  let stdout = '';
  child.stdout?.on('data', (piece: Buffer) => (stdout += piece.toString()));
  await once(child, 'close');
  return { code: child.exitCode, stdout };
}

async function storedFiles(): Promise<readonly string[]> {
  return (await bucket.keys()).filter((key) => key.startsWith(`${prefix}/`) && !key.includes('/_'));
}
