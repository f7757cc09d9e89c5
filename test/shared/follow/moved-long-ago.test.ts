import { describe, expect, it } from 'vitest';
import { movedLongAgo } from '../../../shared/follow/assigned-partitions.ts';

const POLL_MS = 100;

function toldInAMinute(afterMs: number, ...moving: readonly ((second: number) => boolean)[]): readonly number[] {
  let time = 0;
  const dueAfter = movedLongAgo<{ readonly place: number; hasMoved(): boolean }>(() => time);
  const told = moving.map(() => 0);
  const all = moving.map((isMoving, place) => ({ place, hasMoved: () => isMoving(time / 1000) }));
  for (; time < 60_000; time += POLL_MS)
    for (const { place } of dueAfter(all, afterMs)) told[place] = (told[place] ?? 0) + 1;
  return told;
}

describe('what moves', () => {
  it('all the time is written at its pace, and what does not move never', () => {
    const [always = 0, never, once] = toldInAMinute(
      2900,
      () => true,
      () => false,
      (second) => second >= 10 && second < 13,
    );
    expect(always).toBeGreaterThanOrEqual(19);
    expect(always).toBeLessThanOrEqual(21);
    expect([never, once]).toEqual([0, 1]);
  });

  it('is written with each poll where it is to be', () => {
    expect(toldInAMinute(0, () => true)).toEqual([600]);
  });
});
