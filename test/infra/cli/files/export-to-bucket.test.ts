import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { checkExport } from '../../../../infra/cli/files/export/check-export.ts';
import type { Datastore } from '../../../../shared/contract/datastore.ts';
import { exportCells, type ExportOptions, type ExportReport } from '../../../../shared/files/export-cells.ts';
import { s3Target, type S3Options } from '../../../../shared/files/s3-target.ts';
import type { ExportTarget } from '../../../../shared/files/target.ts';
import { referenceStore } from '../../../support/reference-store.ts';
import { openBucket, type Bucket } from '../../../support/files/bucket.ts';
import { until } from '../../../support/until.ts';
import { readings } from '../../../support/files/readings.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';

/** A lock is renewed often, and expires only if a test moves the clock. */
const TIMES = { renewMs: 20, goneMs: 30_000, leftMs: 0 };
const LARGE_BYTES = 20 * 1024 * 1024;
const folder = folderOfTests();
let bucket: Bucket;
let datastore: Datastore;
let prefix: string;
let count = 0;

beforeAll(async () => {
  bucket = await openBucket(join(folder.path, 's3'));
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await bucket?.close();
});
beforeEach(async () => {
  count += 1;
  prefix = `export-${count}`;
  datastore = referenceStore('readings', 4);
  for (const cell of readings({ cells: 200, rows: 20, seed: prefix })) await datastore.put(cell);
  return () => {
    vi.restoreAllMocks();
    bucket.s3.before = () => undefined;
    bucket.s3.conditions = 'kept';
    bucket.s3.uploads.clear();
  };
});

async function open(options: S3Options = {}): Promise<ExportTarget> {
  const place = { endpoint: bucket.url, region: 'us-east-1', isLocked: true, lockTimes: TIMES };
  return s3Target(bucket.name, `${prefix}/`, { ...place, ...options });
}

type Source = Parameters<typeof exportCells>[0];

function source(): Source {
  return { ...datastore, listIndexes: async () => ({ indexes: [] }) };
}

async function exported(
  requests: Partial<ExportOptions> & { readonly from?: Source } & S3Options = {},
): Promise<ExportReport> {
  const { from = source(), ...options } = requests;
  const target = await open(options);
  try {
    return await exportCells(from, { target, format: 'ndjson', sinceLast: true, ...options });
  } finally {
    await target.close();
  }
}

const keys = async (): Promise<readonly string[]> =>
  (await bucket.keys()).filter((key) => key.startsWith(`${prefix}/`)).map((key) => key.slice(prefix.length + 1));

function movedClock(): { move(ms: number): void } {
  let moved = 0;
  for (const clock of [performance, Date]) {
    const real = clock.now.bind(clock);
    vi.spyOn(clock, 'now').mockImplementation(() => real() + moved);
  }
  return { move: (ms) => void (moved += ms) };
}

async function killedOwner(target: ExportTarget): Promise<void> {
  const renewals = vi.spyOn(globalThis, 'setInterval').mockReturnValueOnce({} as NodeJS.Timeout);
  await target.lock?.();
  renewals.mockRestore();
}

function waiting(until: () => Promise<unknown>): Source {
  const from = source();
  return { ...from, log: async (...asked) => (await until(), from.log(...asked)) };
}

test('of two exports to one prefix at once one is refused, and changes nothing', async () => {
  let second: Promise<unknown> | undefined;
  const from = waiting(() => (second ??= exported().catch((error: unknown) => error)));
  expect(await exported({ from })).toMatchObject({ complete: true, cells: 200 });
  expect(await second).toMatchObject({ code: 'busy_export', ending: 'unavailable' });
  expect(await keys()).not.toContain('_lock.json');
  expect(await checkExport(await open())).toMatchObject({ cells: 200, faults: [] });
});

test('of many that begin at once one goes on, and one that was killed is succeeded by one', async () => {
  const dead = await open();
  await killedOwner(dead);
  // Two come to take it over before either has written.
  const both = Promise.withResolvers<undefined>();
  let came = 0;
  let polls = 0;
  bucket.s3.before = ({ method, headers }) => {
    if (method === 'GET') polls += 1;
    if (method !== 'PUT' || headers['if-none-match'] !== undefined) return undefined;
    came += 1;
    if (came === 2) both.resolve(undefined);
    return both.promise;
  };
  const clock = movedClock();
  const targets = await Promise.all(Array.from({ length: 4 }, () => open()));
  const taking = Promise.allSettled(targets.map((target) => target.lock?.()));
  await until('each has looked again and again', () => polls > 12);
  expect(came).toBe(0);
  clock.move(TIMES.goneMs);
  const taken = await taking;
  expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const one of taken)
    if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'busy_export' });
    else await one.value?.();
  // Nor does the one that was silent write any more.
  await expect(dead.writeText('part-0001/_done.json', '[]')).rejects.toMatchObject({ code: 'busy_export' });
});

test('a lock owner whose object is gone, or replaced, writes nothing more', async () => {
  const from = waiting(async () => {
    const { remove } = await s3Target(bucket.name, `${prefix}/`, { endpoint: bucket.url, region: 'us-east-1' });
    await remove('_lock.json');
    // The owner reads its lock when it was not renewed for half of the time.
    movedClock().move(TIMES.goneMs * 0.6);
  });
  const lockTimes = { ...TIMES, renewMs: 3_600_000 };
  await expect(exported({ from, lockTimes })).rejects.toMatchObject({ code: 'busy_export' });
  expect(await keys()).toEqual(['part-0001/_plan.json']);
});

test('an answer to a renewal that is lost costs nothing', async () => {
  let lost = 0;
  const from = waiting(() => until('it is renewed again and again', () => lost > 6));
  bucket.s3.before = async ({ method, url }) => {
    if (method !== 'PUT' || !url.pathname.endsWith('_lock.json')) return undefined;
    lost += 1;
    // Written by the owner itself, as by a request whose response was lost.
    if (lost === 4) await rewrite();
    return undefined;
  };
  expect(await exported({ from })).toMatchObject({ complete: true });
});

test('a lock owner that S3 no longer answers writes nothing, and waits for no answer for ever', async () => {
  const target = await open();
  const release = await target.lock?.();
  bucket.s3.before = ({ url }) => (isLock(url) ? new Promise(() => undefined) : undefined);
  movedClock().move(TIMES.goneMs * 1.5);
  const { timeout } = AbortSignal;
  const bounds: number[] = [];
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => (bounds.push(ms), timeout.call(AbortSignal, 1)));
  await expect(target.writeText('part-0001/_done.json', '[]')).rejects.toMatchObject({ code: 'busy_export' });
  await release?.();
  await target.close();
  expect(new Set(bounds)).toEqual(new Set([TIMES.goneMs / 3]));
});

test('a lock taken over from a silent owner counts, though the response to that was lost', async () => {
  const dead = await open();
  await killedOwner(dead);
  let isLost = false;
  bucket.s3.before = async ({ method, url, headers, body }) => {
    if (isLost || method !== 'PUT' || !isLock(url) || headers['if-match'] === undefined) return undefined;
    isLost = true;
    // Its request is repeated, the first one having been carried out.
    const plain = await s3Target(bucket.name, `${prefix}/`, { endpoint: bucket.url, region: 'us-east-1' });
    await plain.writeText('_lock.json', String(body));
    return undefined;
  };
  const clock = movedClock();
  const polled = vi.spyOn(bucket.s3, 'before');
  const target = await open();
  const taking = target.lock?.();
  await until('it has looked', () => polled.mock.calls.length > 4);
  clock.move(TIMES.goneMs);
  await (
    await taking
  )?.();
  expect(isLost).toBe(true);
});

const isLock = (url: URL): boolean => url.pathname.endsWith('_lock.json');

async function rewrite(): Promise<void> {
  const plain = await s3Target(bucket.name, `${prefix}/`, { endpoint: bucket.url, region: 'us-east-1' });
  const held = JSON.parse((await plain.readText('_lock.json')) ?? '') as object;
  await plain.writeText('_lock.json', JSON.stringify({ ...held, beat: -1 }));
}

test.each(['passed over', 'refused'] as const)('a server by which conditions are %s is told', async (conditions) => {
  bucket.s3.conditions = conditions;
  await expect(exported()).rejects.toMatchObject({
    code: 'bad_option',
    message: expect.stringMatching(/If-None-Match.*--no-lock/u),
  });
  expect(await keys()).toEqual([]);
  expect(await exported({ isLocked: false })).toMatchObject({ complete: true });
});

async function storeLarge(options: S3Options): Promise<unknown> {
  const target = await open({ isLocked: false, ...options });
  const scratch = await target.scratch('part-0001/0000.ndjson');
  writeFileSync(scratch, Buffer.alloc(LARGE_BYTES));
  return target.store(scratch, 'part-0001/0000.ndjson').finally(() => target.close());
}

const isPart = (url: URL, part: number): boolean => url.searchParams.get('partNumber') === String(part);

test('an upload in parts is whole, and is aborted where one of them fails, or it is given up', async () => {
  await storeLarge({});
  expect(await bucket.read(`${prefix}/part-0001/0000.ndjson`)).toHaveLength(LARGE_BYTES);
  expect(bucket.s3.uploads.size).toBe(0);

  prefix = `${prefix}-again`;
  bucket.s3.before = async ({ url }) => (isPart(url, 2) ? 403 : undefined);
  await expect(storeLarge({})).rejects.toThrow('As the test wants it');
  expect(bucket.s3.uploads.size).toBe(0);

  // The server no longer responds, and a cancelled upload must not wait for it.
  const end = new AbortController();
  bucket.s3.before = async ({ url }) => {
    if (!isPart(url, 2)) return undefined;
    end.abort();
    return new Promise(() => undefined);
  };
  await expect(storeLarge({ signal: end.signal })).rejects.toThrow(/abort/iu);
  expect(bucket.s3.uploads.size).toBe(0);
  expect(await keys()).toEqual([]);
});

test('what one that was killed left of its uploads is aborted by the next', async () => {
  bucket.s3.before = async ({ url, method }) => (isPart(url, 2) || method === 'DELETE' ? 403 : undefined);
  await expect(storeLarge({})).rejects.toThrow('As the test wants it');
  expect([...bucket.s3.uploads.values()]).toEqual([`${prefix}/part-0001/0000.ndjson`]);
  const aborted: string[] = [];
  bucket.s3.before = async ({ method, url }) => {
    if (method === 'DELETE' && url.searchParams.has('uploadId')) aborted.push(url.pathname);
    return undefined;
  };
  bucket.s3.uploads.set('1', `${prefix}/part-of-another/0000.ndjson`);
  // A run that a schedule started may be at it.
  await exported({ lockTimes: { ...TIMES, leftMs: 60_000 } });
  expect(aborted).toEqual([]);
  await exported();
  expect(aborted).toEqual([`/${bucket.name}/${prefix}/part-0001/0000.ndjson`]);
});
