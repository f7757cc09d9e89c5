import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nextLook } from '../../shared/next-look.ts';
import { fakeTime, passes } from '../support/fake-time.ts';

let time: Disposable;
beforeEach(() => {
  time = fakeTime();
});
afterEach(() => time[Symbol.dispose]());

/** A table that is looked at: each look takes 30 ms, and finds what was there when it began. */
function table() {
  const state = { there: 'nothing', looks: 0 };
  const look = nextLook(async () => {
    state.looks += 1;
    const found = state.there;
    await new Promise((resolve) => setTimeout(resolve, 30)); // Clock: the faked one
    return found;
  });
  return { state, look };
}

describe('a look that callers share', () => {
  it('finds what was there when its caller came, also where another look runs then', async () => {
    const { state, look } = table();
    const first = look();
    await passes(10);
    state.there = 'a datastore';
    const second = look();
    await passes(200);
    expect([await first, await second]).toEqual(['nothing', 'a datastore']);
  });

  it('is one for all that wait', async () => {
    const { state, look } = table();
    const all = Array.from({ length: 1000 }, () => look());
    await passes(1);
    all.push(...Array.from({ length: 1000 }, () => look()));
    await passes(1000);
    await Promise.all(all);
    expect(state.looks).toBe(2);
  });

  it('comes ten times a second at most, however often it is asked for', async () => {
    const { state, look } = table();
    const over = new AbortController();
    const asking = Array.from({ length: 20 }, async () => {
      while (!over.signal.aborted) await look();
    });
    await passes(3000);
    over.abort();
    await passes(200);
    await Promise.all(asking);
    expect(state.looks).toBeGreaterThan(20);
    expect(state.looks).toBeLessThanOrEqual(33);
  });

  it('that fails fails for those that waited for it, and is made again for others', async () => {
    let times = 0;
    const look = nextLook(async () => {
      times += 1;
      if (times === 1) throw new Error('away');
      return times;
    });
    await expect(look()).rejects.toThrow('away');
    const next = look();
    await passes(100);
    expect(await next).toBe(2);
  });
});
