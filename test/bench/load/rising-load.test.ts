import { expect, it } from 'vitest';
import type { AtRate } from './knee.ts';
import { atRate, summed, untilBeyond, type Answered } from './rising-load.ts';

/** One request each 10 ms for a second. @param tookOf the latency of the nth, since it was due */
const second = (tookOf: (n: number) => number): readonly Answered[] =>
  Array.from({ length: 100 }, (_, n) => ({ took: tookOf(n), at: n * 10 + tookOf(n) }));

it.each([
  ['what is answered at once', second(() => 2), 0, { achieved: 100, p50: 2, p99: 2, failed: 0 }],
  // It counts for all requests due in it, not for one.
  ['a stall of 700 ms', second((n) => Math.max(1, 700 - n * 10)), 0, { achieved: 100, p50: 200, p99: 690 }],
  ['what cannot be kept up with', second((n) => n * 10), 0, { achieved: 50, p50: 490 }],
  ['what was refused', second(() => 2).slice(10), 10, { achieved: 90, p50: 2, p99: Infinity, failed: 10 }],
])('%s is summed up', (_what, answers, failed, expected) => {
  const rate = summed(answers, 1000, failed);
  const { achieved, ...others } = expected;
  expect(rate).toMatchObject(others);
  expect(rate.achieved).toBe(achieved);
});

it('an error of a request ends it', async () => {
  const send = (): Promise<boolean> => Promise.reject(new Error('answered what was not asked'));
  const rate = { offered: 100, milliseconds: 50, signal: new AbortController().signal };
  await expect(atRate(send, rate)).rejects.toThrow('answered what was not asked');
});

it('rates rise, and end after two in a row that are not borne', async () => {
  const times = { p50: 1, p99: 2, p999: 2, requests: 100, failed: 0 };
  const offer = async (share: number): Promise<AtRate> => {
    const isBorne = share === 0.1 || share === 0.3;
    return { share, offered: share * 100, achieved: isBorne ? share * 100 : 0, ...times };
  };
  const rates = await untilBeyond([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], offer);
  expect(rates.map(({ share }) => share)).toEqual([0.1, 0.2, 0.3, 0.4, 0.5]);
});
