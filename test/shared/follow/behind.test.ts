import { describe, expect, inject, it } from 'vitest';
import { knownFor, withHead, type SeenHead } from '../../../shared/follow/held-shard.ts';
import { doneWith, follow, newDeeds, sharedFollowed, startWorker } from './support/followed-store.ts';
import { readersOf } from '../../support/readers-caught-up.ts';
import { until } from '../../support/until.ts';

const SHARDS = 3;
const followed = await sharedFollowed(SHARDS);

/** The clock of workers, which moves only as a test lets it. */
let clockMs = 0;
const now = (): number => clockMs;
const passing = (what: string, isSo: () => boolean): Promise<void> =>
  until(what, () => {
    if (!isSo()) clockMs += 60;
    return isSo();
  });

const upTo = (last: number): number[] => Array.from({ length: last }, (_, n) => n + 1);

const setTime = (shard: number, added_id: number, time: string) =>
  followed.change(shard, 'UPDATE ENTITY SET created_at = ? WHERE added_id = ?', time, added_id);

describe('a follower that keeps behind the logs', () => {
  it('is not stopped by a moment of a clock ahead', async () => {
    await followed.write(0, 1);
    await setTime(0, 1, '2100-01-01 00:00:00.000000');
    // Times never go back within a shard.
    await followed.write(0, 4);
    const { deeds, worker } = follow(followed, { behindMs: 200 });
    await until('all is handled', () => deeds.idsOf(0).length === 5);
    await followed.write(0, 3);
    await until('the new cells are handled', () => deeds.idsOf(0).length === 8);
    await worker.stop();
    expect(deeds.idsOf(0)).toEqual(upTo(8));
  });

  it('hands out no cell that it has not known for so long, whatever time the cell has', async () => {
    const deeds = newDeeds();
    const [written, handled] = [new Map<number, number>(), new Map<number, number>()];
    const worker = startWorker(followed, deeds, {
      behindMs: 500,
      now,
      follower: {
        async handle(_group, cells) {
          for (const { shard, added_id } of cells) if (shard === 1) handled.set(added_id, clockMs);
          return doneWith(cells);
        },
      },
    });
    await passing('it holds its partitions', () => deeds.eventsOf('partition_taken').length >= SHARDS);
    for (let id = 1; id <= 10; id += 1) {
      written.set(id, clockMs);
      await followed.write(1, 1);
      if (id === 1) await setTime(1, 1, '2020-01-01 00:00:00.000000');
      clockMs += 60;
    }
    await passing('all is handled', () => handled.size === 10);
    await worker.stop();
    const waits = upTo(10).map((id) => (handled.get(id) ?? 0) - (written.get(id) ?? 0));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(500);
  });

  it('takes a long log up at once, not a page for each time that it waits', async () => {
    await followed.write(2, 500);
    await using readers = await readersOf(inject('servers').groups);
    // The first poll sees the whole log.
    await readers.caughtUp();
    const { deeds, worker } = follow(followed, { behindMs: 1500, pageCells: 10, now });
    await passing('the first is handled', () => deeds.idsOf(2).length > 0);
    const first = clockMs;
    // Time passes only while nothing comes: a read that failed on a busy machine is repeated after a while.
    let handled = 0;
    await until('all is handled', () => {
      if (deeds.idsOf(2).length === handled) clockMs += 5;
      handled = deeds.idsOf(2).length;
      return handled === 500;
    });
    await worker.stop();
    // Fifty pages, each of which would wait for 1500 ms.
    expect(clockMs - first).toBeLessThan(30_000);
    expect(deeds.idsOf(2)).toEqual(upTo(500));
  });
});

describe('how far a log is known for so long', () => {
  const BEHIND = 1600;

  it('is told by polls that lie so far back, and few of them are kept', () => {
    let seen: readonly SeenHead[] = [];
    for (let at = 0; at <= 20_000; at += 10) {
      const known = knownFor(seen, at, BEHIND);
      // One cell every ten milliseconds, the first at 0. Late by two sixteenths at most, never early.
      if (at >= 2 * BEHIND)
        expect(known).toSatisfy((id: number) => id <= (at - BEHIND) / 10 && id >= (at - BEHIND - BEHIND / 8) / 10);
      else expect(known).toBeLessThanOrEqual(Math.max(0, (at - BEHIND) / 10));
      seen = withHead(seen, { added_id: at / 10, at }, BEHIND);
      expect(seen.length).toBeLessThanOrEqual(20);
    }
    expect(knownFor(seen, 60_000, BEHIND)).toBe(2000);
  });

  it('does not grow younger when a node is asked that lags', () => {
    const seen = withHead(withHead([], { added_id: 10, at: 0 }, BEHIND), { added_id: 8, at: 1000 }, BEHIND);
    expect(knownFor(seen, BEHIND, BEHIND)).toBe(10);
  });
});
