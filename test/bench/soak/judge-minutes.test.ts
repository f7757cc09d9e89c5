import { describe, expect, it } from 'vitest';
import { judgeMinutes } from './judge-minutes.ts';
import { MEBIBYTE, type WatchedMinute } from './run-soak.ts';

const MINUTE: WatchedMinute = {
  p50: 4,
  p99: 40,
  bareP99: 20,
  operations: 60_000,
  refused: 0,
  wrong: 0,
  buffered: 0,
  residentBytes: 200 * MEBIBYTE,
  serverBytes: 900 * MEBIBYTE,
};

/** Ten minutes, of which those after the fifth differ. */
const tenMinutes = (late: Partial<WatchedMinute>): WatchedMinute[] =>
  Array.from({ length: 10 }, (_, position) => ({ ...MINUTE, ...(position < 5 ? {} : late) }));
const verdicts = (minutes: readonly WatchedMinute[]): readonly boolean[] =>
  judgeMinutes({ peak: 1500, minutes }, 0.7, 'an engine').map(({ passed }) => passed);

describe('ten minutes of a steady load', () => {
  it.each<[string, Partial<WatchedMinute>, readonly boolean[]]>([
    ['pass where nothing grew', {}, [true, true, true, true]],
    ['fail where the p99 grew', { p99: 45 }, [true, false, true, true]],
    ['pass where a bare client saw the same', { p99: 60, bareP99: 30 }, [true, true, true, true]],
    ['fail where the p99 grew by more than that', { p99: 60, bareP99: 25 }, [true, false, true, true]],
    ['are not held against a machine that got faster', { p99: 42, bareP99: 10 }, [true, true, true, true]],
    ['fail where the memory grew', { residentBytes: 230 * MEBIBYTE }, [true, true, false, true]],
    ['fail where an answer was wrong', { wrong: 1 }, [false, true, true, true]],
    ['fail where too much was refused', { refused: 2000 }, [false, true, true, true]],
  ])('%s', (_case, late, expected) => {
    expect(verdicts(tenMinutes(late))).toEqual(expected);
  });

  it('do not fail for one minute that something disturbed', () => {
    const minutes = tenMinutes({});
    minutes[7] = { ...MINUTE, p99: 400 };
    expect(verdicts(minutes)).toEqual([true, true, true, true]);
  });
});
