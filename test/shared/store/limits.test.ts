import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { LIMITS, type Cell } from '../../../shared/cell.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { answerRoom } from '../../../shared/access/decode.ts';
import { lookedUp } from '../../support/looked-up-batched.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { change } from '../../support/plain-sql.ts';
import { readPages } from '../../support/read-pages.ts';
import type { ShardLog } from '../../../shared/contract/datastore.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';

/** Seven do not fit into one answer of 4 MiB; deflated they are tiny, so that only their decoded size can tell. */
const LARGE = 'x'.repeat(650_000);
const COUNT = 14;
const SHARDS = 4;

let fetched = 0;

function counting(client: SqlClient): SqlClient {
  return {
    ...client,
    async select(statement, target) {
      const rows = await client.select(statement, target);
      for (const row of rows) fetched += row[6] instanceof Uint8Array ? row[6].length : 0;
      return rows;
    },
  };
}

const { trips, clientOf, entity, rowIn, logOf } = await sharedTrips(SHARDS, { bufferCopies: 0, wrap: counting });
const row_key = rowIn(0);
const randomBody = (bytes: number): string => randomBytes((bytes * 3) / 4).toString('base64');

beforeAll(async () => {
  for (let ref_key = 0; ref_key < COUNT; ref_key += 1) await trips.put(cellOf({ row_key, ref_key, body: LARGE }));
  for (let ref_key = 0; ref_key < COUNT; ref_key += 1)
    await trips.put(cellOf({ row_key, column_name: `COLUMN ${String(ref_key).padStart(2, '0')}`, body: LARGE }));
});

/** Writes cells of a shard whose bodies hardly deflate; returns where its log ended before. */
async function putRandom(shard: number, count: number, bytes: number): Promise<number> {
  const key = rowIn(shard);
  const head = (await trips.heads())[shard];
  for (let ref_key = 0; ref_key < count; ref_key += 1)
    await trips.put(cellOf({ row_key: key, ref_key, body: randomBody(bytes) }));
  return !head || head.error ? Number.NaN : head.head;
}

/** Reads a list to its end; every page has to stay under the limit of an answer. */
async function readAll<Next>(
  page: (after: Next | undefined) => Promise<{ readonly cells: readonly Cell[]; readonly next: Next | null }>,
): Promise<Cell[]> {
  const pages = (await readPages(page)).map(({ cells }) => cells);
  for (const cells of pages)
    expect(cells.reduce((sum, { body }) => sum + JSON.stringify(body).length, 0)).toBeLessThanOrEqual(
      LIMITS.answerBytes,
    );
  return pages.flat();
}

describe('an answer of 4 MiB', () => {
  it('ends a list of versions, a row and a log early, and the list goes on after it', async () => {
    const refKeys = (
      await readAll<number>((after) => trips.versions({ row_key, column_name: 'BASE' }, { order: 'asc', after }))
    ).map(({ ref_key }) => ref_key);
    expect(refKeys).toEqual(Array.from({ length: COUNT }, (_, position) => position));
    expect(await readAll<string>((after) => trips.row(row_key, { after }))).toHaveLength(COUNT + 1);
    const columns = ['COLUMN 06', 'BASE', ...Array.from({ length: 6 }, (_, position) => `COLUMN 0${position}`)];
    const ofColumns = await readAll<string>((after) => trips.row(row_key, { after, columns }));
    expect(ofColumns.map(({ column_name }) => column_name)).toEqual(columns.toSorted());

    const ids: number[] = [];
    for (let after = 0; ids.length < 2 * COUNT;) {
      const cells = await logOf(0, after);
      expect(cells.length).toBeLessThan(7);
      ids.push(...cells.map(({ added_id }) => added_id));
      after = ids.at(-1) ?? 0;
    }
    expect(ids).toEqual(ids.map((_, position) => position + 1));
  });

  it('is shared evenly by the shards of one log read: those that find no room stay where they are, and say that there is more', async () => {
    const read = (times: number) =>
      trips.log(
        Array.from({ length: times }, () => ({ shard: 0, after: 0 })),
        { limit: 1000 },
      );
    const countsOf = (logs: readonly ShardLog[]) =>
      logs.map((log) => (log.error ? Number.NaN : log.cells.length)).sort();
    const logs = await read(3);
    expect(countsOf(logs)).toEqual([2, 2, 2]);
    for (const log of logs) expect(log).toMatchObject({ next: 2, more: true });
    const many = await read(20);
    expect(countsOf(many)).toEqual([...Array.from({ length: 14 }, () => 0), ...Array.from({ length: 6 }, () => 1)]);
    for (const log of many) expect(!log.error && [log.next, log.more]).toEqual([!log.error && log.cells.length, true]);
  });

  it.skipIf(WRITER_ONLY)('keeps no shard waiting for ever whose cells are larger than its share', async () => {
    // Random bodies, which take in the database what they take in the answer: a share of it has no room for one of
    // them.
    const large = await putRandom(1, 2, 800_000);
    const small = await putRandom(2, 100, 30_000);
    const locations = [{ shard: 1, after: large }, ...Array.from({ length: 7 }, () => ({ shard: 2, after: small }))];
    let requests = 0;
    for (let seen = 0; seen === 0 && requests < 60; requests += 1) {
      const [log, ...others] = await trips.log(locations, { limit: 1000 });
      seen = !log || log.error ? Number.NaN : log.cells.length;
      expect(log).toMatchObject({ more: true });
      expect(others.reduce((sum, one) => sum + (one.error ? Number.NaN : one.cells.length), 0)).toBeGreaterThan(60);
    }
    expect(requests).toBeLessThan(60);
    expect(await trips.log([{ shard: 1, after: large }], { limit: 1 })).toMatchObject([{ cells: [{}], more: true }]);
  });

  const keys = Array.from({ length: COUNT }, (_, ref_key) => ({ row_key, column_name: 'BASE', ref_key }));
  it.each([
    ['further items of a batch', () => trips.batchGet(keys)],
    ['further ones of look-ups that share an answer', () => lookedUp(trips, keys, { room: answerRoom() })],
  ])('leaves no room for %s: each says so for itself', async (_what, read) => {
    const items = await read();
    const answered = items.filter((item) => item && !('error' in item && item.error));
    expect(answered.length).toBeGreaterThan(4);
    expect(answered.length).toBeLessThan(7);
    for (const item of items.slice(answered.length))
      expect(item).toMatchObject({ error: { code: 'answer_too_large' } });
  });
});

describe.skipIf(WRITER_ONLY)('bodies that do not deflate', () => {
  it('are not fetched where the answer has no room for them', async () => {
    const key = rowIn(0);
    const sizes = [
      ...Array.from({ length: 40 }, () => 300),
      ...Array.from({ length: 30 }, () => 400_000),
      ...Array.from({ length: 30 }, () => 20_000),
    ];
    for (const [ref_key, bytes] of sizes.entries())
      await trips.put(cellOf({ row_key: key, ref_key, body: randomBody(bytes) }));
    fetched = 0;
    const items = await trips.batchGet(sizes.map((_, ref_key) => ({ row_key: key, column_name: 'BASE', ref_key })));
    const outcomes = items.map((item) => (item && 'body' in item ? 'read' : item?.error.code));
    // As many of the large ones as there is room for, and the small ones behind them still fit.
    expect(outcomes.slice(0, 40)).toEqual(sizes.slice(0, 40).map(() => 'read'));
    expect(outcomes.slice(40, 50)).toEqual(sizes.slice(40, 50).map(() => 'read'));
    expect(outcomes.slice(51, 70)).toEqual(sizes.slice(51, 70).map(() => 'answer_too_large'));
    expect(fetched).toBeLessThan(6_000_000);
    for (const [position, item] of items.entries()) if (item && 'body' in item) expect(item.ref_key).toBe(position);
  });

  it('of columns that are named come in pages, too, and not next to others', async () => {
    const key = rowIn(1);
    const columns = ['F', 'B', 'C', 'D', 'E', 'A'];
    for (const column_name of columns)
      await trips.put(cellOf({ row_key: key, column_name, ref_key: 1, body: randomBody(950_000) }));
    fetched = 0;
    await expect(trips.row(key, { columns, room: answerRoom() })).rejects.toMatchObject({ code: 'answer_too_large' });
    expect(fetched).toBeLessThan(600_000);
    expect((await trips.row(key, { columns: ['NONE'], room: answerRoom() })).cells).toEqual([]);
    const cells = await readAll<string>((after) => trips.row(key, { after, columns }));
    expect(cells.map(({ column_name }) => column_name)).toEqual(['A', 'B', 'C', 'D', 'E', 'F']);
  });
});

describe('a hole in the log', () => {
  it('stops every reader in front of it until it is filled', async () => {
    // As a reader meets a commit that its snapshot does not show yet.
    const insert = (id: number) =>
      change(
        clientOf(3),
        `INSERT INTO ${entity(3)} VALUES (?, UNHEX('00000000000000000000000000000000'), 'X', ?, X'02C0', '2026-01-01 00:00:00')`,
        id,
        id,
      );
    for (const id of [1, 2, 4, 5]) await insert(id);
    const read = async (after: number) => {
      const [log] = await trips.log([{ shard: 3, after }]);
      return !log || log.error
        ? undefined
        : { ids: log.cells.map(({ added_id }) => added_id), next: log.next, more: log.more };
    };
    expect(await read(0)).toEqual({ ids: [1, 2], next: 2, more: true });
    expect(await read(2)).toEqual({ ids: [], next: 2, more: true });
    await insert(3);
    expect(await read(2)).toEqual({ ids: [3, 4, 5], next: 5, more: false });
  });
});
