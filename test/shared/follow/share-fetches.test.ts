import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FetchLogEntries, shareFetches } from '../../../shared/follow/read-log-entries.ts';
import type { StoreContext } from '../../../shared/access/context.ts';

const context = {} as StoreContext;
const from = { datastore: 'trips', limit: 10, read: 'reader' as const };
const entry = (shard: number, at: number) => ({
  added_id: at + 1,
  row_key: `row ${shard}`,
  column_name: 'BASE',
  ref_key: 0,
  created_at: '',
});

function fakeFetch() {
  const asked: string[] = [];
  const fetch: FetchLogEntries = async (_context, group, { read }, ranges) => {
    asked.push(`${group}/${read}: ${ranges.map(({ shard, at }) => `${shard}@${at}`).join(' ')}`);
    await Promise.resolve();
    if (group === 'unavailable') throw new Error('unavailable');
    return { role: read, found: ranges.map(({ shard, at }) => ({ entries: [entry(shard, at)], epoch: shard })) };
  };
  return { asked, fetch };
}

const ranges = (...at: readonly number[]) => at.map((id, shard) => ({ shard, at: id }));

describe('shared fetches', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('ask once for what several want in the same moment, and answer each in its order', async () => {
    const { asked, fetch } = fakeFetch();
    const shared = shareFetches(fetch);
    const wants = [ranges(5, 6), ranges(5, 7, 8), ranges(5, 6).toReversed()];
    const answers = await Promise.all(wants.map((want) => shared(context, 'one', from, want)));
    expect(asked).toEqual(['one/reader: 0@5 1@6', 'one/reader: 1@7 2@8']);
    expect(answers.map(({ found }) => found)).toEqual(
      wants.map((want) => want.map(({ shard, at }) => ({ entries: [entry(shard, at)], epoch: shard }))),
    );
    await shared(context, 'one', from, ranges(5, 6));
    expect(asked).toHaveLength(2);
  });

  it('ask again soon after, for other groups, for the writer, and after a failure', async () => {
    const { asked, fetch } = fakeFetch();
    const shared = shareFetches(fetch, 5);
    const want = ranges(1);
    await Promise.all([
      shared(context, 'one', from, want),
      shared(context, 'other', from, want),
      shared(context, 'one', { ...from, read: 'writer' }, want),
    ]);
    expect(new Set(asked)).toEqual(new Set(['one/reader: 0@1', 'other/reader: 0@1', 'one/writer: 0@1']));
    await vi.advanceTimersByTimeAsync(6);
    await shared(context, 'one', from, want);
    expect(asked).toHaveLength(4);
    const failed = await Promise.allSettled([
      shared(context, 'unavailable', from, want),
      shared(context, 'unavailable', from, want),
    ]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(shared(context, 'unavailable', from, want)).rejects.toThrow('unavailable');
    expect(asked).toHaveLength(6);
  });
});
