import { afterEach, describe, expect, it, vi } from 'vitest';
import { known } from '../../shared/known.ts';

afterEach(() => vi.restoreAllMocks());

/** A clock that the test sets. */
function clock(): { at: number } {
  const time = { at: 1_000_000 };
  vi.spyOn(performance, 'now').mockImplementation(() => time.at);
  vi.spyOn(Date, 'now').mockImplementation(() => time.at);
  return time;
}

describe('a cached value', () => {
  it('is fetched once for all concurrent callers, and again once it is old', async () => {
    const [time, ask] = [clock(), vi.fn(async () => time.at)];
    const one = known(ask, { maxAgeMs: 100, failed: () => undefined });
    expect(await Promise.all([one.read(), one.read()])).toEqual([1_000_000, 1_000_000]);
    time.at += 99;
    expect(await one.read()).toBe(1_000_000);
    time.at += 1;
    expect([await one.read(), ask.mock.calls.length]).toEqual([1_000_100, 2]);
    one.forget();
    await one.read();
    expect(ask).toHaveBeenCalledTimes(3);
  });

  it('is the last one where it cannot be read, which is reported once', async () => {
    const time = clock();
    const [ask, failed] = [vi.fn<() => Promise<number>>(), vi.fn()];
    const one = known(ask, { maxAgeMs: 10, failed });
    ask.mockRejectedValueOnce(new Error('unavailable'));
    await expect(one.read()).rejects.toThrow('unavailable');
    await expect(one.read()).rejects.toThrow('unavailable');
    expect([one.last(), ask.mock.calls.length]).toEqual([undefined, 1]);
    time.at += 10;
    ask.mockResolvedValueOnce(1);
    expect(await one.read()).toBe(1);
    ask.mockRejectedValue(new Error('unavailable again'));
    for (let poll = 0; poll < 3; poll += 1) {
      time.at += 10;
      expect(await one.read()).toBe(1);
    }
    expect(failed.mock.calls.map(([error]) => (error as Error).message)).toEqual(['unavailable', 'unavailable again']);
    await one.poll();
    expect(one.last()).toBe(1);
  });
});
