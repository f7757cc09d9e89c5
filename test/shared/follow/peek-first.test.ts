import { beforeEach, describe, expect, it } from 'vitest';
import { peekFirst, type FetchNews } from '../../../shared/follow/peek-first.ts';
import type { FetchLogEntries } from '../../../shared/follow/read-log-entries.ts';
import type { LogRange, StoredLogEntry } from '../../../shared/sql/statements/select-log-entries.ts';
import type { StoreContext } from '../../../shared/access/context.ts';

const context = {} as StoreContext;
const from = { datastore: 'trips', limit: 3, read: 'reader' as const };
const SHARDS = [0, 1, 2, 3];

/** Logs in memory, by shard: the added ids that are visible. */
let logs: number[][];
let log: string[];
let time: number;
let fetch: FetchLogEntries;

const entry = (added_id: number): StoredLogEntry => ({
  added_id,
  row_key: `row ${added_id}`,
  column_name: 'BASE',
  ref_key: 0,
  created_at: '',
});
const rangesAt = (...at: readonly number[]) => at.map((id, shard) => ({ shard, at: id }));
const foundBy = async (...at: readonly number[]): Promise<number[][]> =>
  (await fetch(context, 'one', from, rangesAt(...at))).found.map(({ entries }) =>
    entries.map(({ added_id }) => added_id),
  );

const readAll: FetchLogEntries = async (_context, _group, { read, limit }, ranges) => {
  log.push(`read ${ranges.map(({ shard }) => shard).join(' ')}`);
  return {
    role: read,
    found: ranges.map(({ shard, at }) => ({
      entries: (logs[shard] ?? [])
        .filter((id) => id >= at)
        .slice(0, at === 0 ? limit : limit + 1)
        .map(entry),
      epoch: 1,
    })),
  };
};
const peek: FetchNews = async (_context, _group, { read }, ranges) => {
  log.push(`peek ${ranges.map(({ shard }) => shard).join(' ')}`);
  return {
    role: read,
    items: new Set(ranges.flatMap(({ shard, at }, item) => (logs[shard]?.includes(at + 1) ? [item] : []))),
  };
};

beforeEach(() => {
  logs = [[1, 2], [], [1], [1]];
  log = [];
  time = 0;
  fetch = peekFirst({ checkEveryMs: 1000, fetch: readAll, peek, now: () => time });
});

describe('peeking first', () => {
  it('reads only the shards that have a next cell, and finds in the others what was there', async () => {
    expect(await foundBy(2, 0, 1, 1)).toEqual([[2], [], [1], [1]]);
    logs[1]?.push(1);
    logs[3]?.push(2, 3);
    expect(await foundBy(2, 0, 1, 1)).toEqual([[2], [1], [1], [1, 2, 3]]);
    // Offsets have moved on to what was read just now.
    expect(await foundBy(2, 1, 1, 3)).toEqual([[2], [1], [1], [3]]);
    expect(log).toEqual(['read 0 1 2 3', 'peek 0 1 2 3', 'read 1 3', 'peek 0 1 2 3']);
  });

  it('says which answers are those of before, and never those with something new', async () => {
    await foundBy(2, 0, 1, 1);
    logs[2]?.push(2);
    const { found } = await fetch(context, 'one', from, rangesAt(2, 0, 1, 1));
    expect(found.map(({ isQuiet = false }) => isQuiet)).toEqual([true, true, false, true]);
  });

  it('reads in full where more may wait, at a hole, and where the cell at the offset is not what came', async () => {
    logs = [[1, 2, 3, 4, 5], [1, 3], [], [1]];
    await foundBy(1, 1, 7, 1);
    log = [];
    await foundBy(4, 1, 7, 1);
    expect(log).toEqual(['peek 3', 'read 0 1 2']);
  });

  it('reads what a rewind goes back to', async () => {
    await foundBy(2, 0, 1, 1);
    expect(await foundBy(0, 0, 1, 1)).toEqual([[1, 2], [], [1], [1]]);
    expect(log.at(-1)).toBe('read 0');
  });

  it('reads a page in full once in its time, each at a moment of its own: a log that was cut is noticed', async () => {
    const pages = SHARDS.map((shard) => [{ shard, at: logs[shard]?.length ?? 0 }]);
    const findIn = async (page: LogRange[]): Promise<number> =>
      (await fetch(context, 'one', from, page)).found[0]?.entries.length ?? 0;
    for (const page of pages) await findIn(page);
    logs = [[1], [], [], []];
    const noticedAt = new Map<number, number>();
    for (time = 100; time <= 1000; time += 100) {
      for (const [shard, page] of pages.entries())
        if (shard !== 1 && !noticedAt.has(shard) && (await findIn(page)) === 0) noticedAt.set(shard, time);
    }
    expect([...noticedAt.keys()].sort()).toEqual([0, 2, 3]);
    expect(new Set(noticedAt.values()).size).toBe(3);
  });

  it('keeps groups, datastores and roles apart', async () => {
    await foundBy(2, 0, 1, 1);
    await fetch(context, 'other', from, rangesAt(2));
    await fetch(context, 'one', { ...from, datastore: 'other' }, rangesAt(2));
    await fetch(context, 'one', { ...from, read: 'writer' }, rangesAt(2));
    expect(log).toEqual(['read 0 1 2 3', 'read 0', 'read 0', 'read 0']);
  });
});
