import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { atRate, risingLoad } from './rising-load.ts';

const { signal } = new AbortController();

/** Serves one request at a time. */
function single(milliseconds: number): () => Promise<boolean> {
  let last = Promise.resolve();
  return async () => {
    last = last.then(() => sleep(milliseconds));
    await last;
    return true;
  };
}

it('a stall counts for all that was due in it, not for one request', async () => {
  let stalled = true;
  const send = async (): Promise<boolean> => {
    // Answers nothing for 200 ms, and the rest at once.
    await sleep(stalled ? 200 : 0);
    return true;
  };
  setTimeout(() => (stalled = false), 200);
  const { requests, failed, p50, p99 } = await atRate(send, { offered: 200, milliseconds: 300, signal });
  expect([requests, failed]).toEqual([60, 0]);
  // Two thirds of it.
  expect(p50).toBeGreaterThanOrEqual(195);
  expect(p99).toBeLessThan(400);
});

it('what cannot be kept up with is told apart from what can', async () => {
  const slow = await atRate(single(10), { offered: 200, milliseconds: 500, signal });
  expect(slow.achieved).toBeLessThan(0.7 * 200);
  expect(slow.p99).toBeGreaterThan(300);
  const fast = await atRate(single(1), { offered: 50, milliseconds: 500, signal });
  expect(fast.achieved).toBeGreaterThan(0.8 * 50);
});

it('what was refused took for ever', async () => {
  let sent = 0;
  const send = async (): Promise<boolean> => (sent += 1) % 10 !== 0;
  const { failed, p50, p99, achieved } = await atRate(send, { offered: 100, milliseconds: 500, signal });
  expect(failed).toBe(5);
  expect(p50).toBeLessThan(100);
  expect(p99).toBe(Number.POSITIVE_INFINITY);
  expect(achieved).toBeGreaterThan(75);
  expect(achieved).toBeLessThanOrEqual(90);
});

it('what cannot be measured ends it', async () => {
  const send = (): Promise<boolean> => Promise.reject(new Error('answered what was not asked'));
  await expect(atRate(send, { offered: 100, milliseconds: 100, signal })).rejects.toThrow(
    'answered what was not asked',
  );
});

it('goes up from a tenth of the peak, and ends beyond what is borne', async () => {
  const seen: number[] = [];
  let isRefusing = false;
  const { closed, rates } = await risingLoad(
    async () => {
      await sleep(1);
      return !isRefusing;
    },
    {
      callers: 4,
      warmMs: 20,
      peakMs: 200,
      shares: [0.1, 0.2, 0.3, 0.4, 0.5],
      spanMs: { least: 200, most: 300 },
      signal,
      seen({ share }) {
        seen.push(share);
        isRefusing = true;
      },
    },
  );
  expect(closed.perSecond).toBeGreaterThan(0);
  expect(seen.slice(0, 2)).toEqual([0.1, 0.2]);
  // Two in a row that are not borne.
  expect(seen.length).toBeLessThanOrEqual(3);
  expect(rates.map(({ share, offered }) => [share, offered / closed.perSecond])).toEqual(
    seen.map((share) => [share, expect.closeTo(share)]),
  );
});
