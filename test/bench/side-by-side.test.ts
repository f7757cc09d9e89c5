import { setImmediate as otherWork } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { isInDoubt, sideBySide, type Work } from './side-by-side.ts';

const { signal } = new AbortController();

/** Only work moves this clock: other load of the machine takes no time. */
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** Returns work that takes exactly this long, and records its turn. */
function taking(milliseconds: number, turns: string[] = [], name = ''): Work {
  return async () => {
    if (turns.at(-1) !== name) turns.push(name);
    vi.advanceTimersByTime(milliseconds);
    return 1;
  };
}

it.each([
  { of: 9, below: 1, inDoubt: false },
  { of: 9, below: 2, inDoubt: true },
  { of: 45, below: 15, inDoubt: false },
  { of: 45, below: 16, inDoubt: true },
])('takes $below of $of rounds below the bar for a doubt: $inDoubt', ({ of, below, inDoubt }) => {
  const ratios = Array.from({ length: of }, (_, round) => (round < below ? 0.84 : 0.85));
  expect(isInDoubt(ratios, 0.85)).toBe(inDoubt);
  expect(isInDoubt(ratios, undefined)).toBe(false);
});

it('counts a round that measured nothing as below the bar', () => {
  const nothing = Array.from({ length: 9 }, () => Number.NaN);
  expect(isInDoubt(nothing, 0.85)).toBe(true);
});

it('takes as many rounds as a bar needs, and no more than five times as many', async () => {
  const sides = { theirs: taking(4), warmMs: 1, roundMs: 1 };
  expect(await sideBySide({ ...sides, ours: taking(1), bar: 0.9 }, signal)).toMatchObject({ rounds: 9 });
  const slow = await sideBySide({ ...sides, ours: taking(12), bar: 0.9 }, signal);
  expect(slow).toMatchObject({ rounds: 45 });
  expect(slow.most).toBeLessThan(0.9);
  expect(await sideBySide({ ...sides, ours: taking(12) }, signal)).toMatchObject({ rounds: 9 });
});

it('gives each side its turns, in the opposite order every other time', async () => {
  const turns: string[] = [];
  const [ours, theirs, bare] = ['o', 't', 'b'].map((name) => taking(2, turns, name)) as [Work, Work, Work];
  const ratio = await sideBySide({ ours, theirs, bare, warmMs: 1, roundMs: 60 }, signal);
  expect(turns.slice(0, 13).join('')).toBe('otbotbtobtotb');
  expect(ratio.toBare).toBeGreaterThan(0);
});

it('makes as many concurrent calls as asked, and counts their units', async () => {
  let [underWay, most] = [0, 0];
  const work: Work = async () => {
    most = Math.max(most, (underWay += 1));
    await otherWork();
    vi.advanceTimersByTime(1);
    underWay -= 1;
    return 10;
  };
  const done = await sideBySide({ ours: work, theirs: taking(1), atOnce: 4, warmMs: 1, roundMs: 20 }, signal);
  expect(most).toBe(4);
  expect(done).toMatchObject({ ratio: expect.closeTo(10), ours: expect.closeTo(10_000) });
});

it('charges a side with the work that it leaves behind', async () => {
  let left = 0;
  const leaving = (milliseconds: number): Work => {
    const work = taking(2);
    return async () => {
      left += milliseconds;
      return work();
    };
  };
  const settled = async (): Promise<void> => {
    vi.advanceTimersByTime(left);
    left = 0;
  };
  const sides = { ours: leaving(2), theirs: leaving(0), warmMs: 5, roundMs: 30 };
  expect((await sideBySide({ ...sides, settled }, signal)).ratio).toBeCloseTo(0.5, 1);
});
