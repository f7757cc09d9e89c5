import { describe, expect, it } from 'vitest';
import { nextPoll } from '../../shared/next-poll.ts';
import { fakeTimeOfEach, passes } from '../support/fake-time.ts';

fakeTimeOfEach();

/** A polled table: each poll takes 30 ms, and finds what was there when it began. */
function table() {
  const state = { there: 'nothing', polls: 0 };
  const poll = nextPoll(async () => {
    state.polls += 1;
    const found = state.there;
    await new Promise((resolve) => setTimeout(resolve, 30)); // Clock: the faked one
    return found;
  });
  return { state, poll };
}

describe('a poll that callers share', () => {
  it('finds what was there when its caller came, also where another poll runs then', async () => {
    const { state, poll } = table();
    const first = poll();
    await passes(10);
    state.there = 'a datastore';
    const second = poll();
    await passes(200);
    expect([await first, await second]).toEqual(['nothing', 'a datastore']);
  });

  it('is one for all that wait', async () => {
    const { state, poll } = table();
    const all = Array.from({ length: 1000 }, () => poll());
    await passes(1);
    all.push(...Array.from({ length: 1000 }, () => poll()));
    await passes(1000);
    await Promise.all(all);
    expect(state.polls).toBe(2);
  });

  it('comes ten times a second at most, however often it is asked for', async () => {
    const { state, poll } = table();
    const over = new AbortController();
    const asking = Array.from({ length: 20 }, async () => {
      while (!over.signal.aborted) await poll();
    });
    await passes(3000);
    over.abort();
    await passes(200);
    await Promise.all(asking);
    expect(state.polls).toBeGreaterThan(20);
    expect(state.polls).toBeLessThanOrEqual(33);
  });

  it('that fails, fails for its waiting callers, and is repeated for others', async () => {
    let times = 0;
    const poll = nextPoll(async () => {
      times += 1;
      if (times === 1) throw new Error('unavailable');
      return times;
    });
    await expect(poll()).rejects.toThrow('unavailable');
    const next = poll();
    await passes(100);
    expect(await next).toBe(2);
  });
});
