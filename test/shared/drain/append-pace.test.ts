import { describe, expect, it } from 'vitest';
import { appendPace, rateFor } from '../../../shared/drain/append-pace.ts';
import { fakeTimeOfEach, passes } from '../../support/fake-time.ts';

fakeTimeOfEach();

function paced() {
  const pace = appendPace(() => 1000);
  const turns: number[] = [];
  // Clock: the faked one
  const take = async (cells: number): Promise<void> => (await pace.turn(cells), void turns.push(performance.now()));
  return { pace, turns, take };
}

describe('the pace of appends', () => {
  it.each([
    ['an outage of a minute, 300 writes a second', { rows: 18_000, seconds: 60 }, 450],
    ['a few rows of a primary that is seldom written', { rows: 600, seconds: 600 }, 100],
    ['what came just now', { rows: 1000, seconds: 0.1 }, 1500],
    ['nothing', { rows: 0, seconds: 0 }, 100],
  ])('is half as much again as that of %s', (_what, backlog, perSecond) => {
    expect(rateFor([backlog])).toBe(perSecond);
  });

  it('is that of a backlog that came in a minute, though one row of another shard has waited for an hour', () => {
    expect(
      rateFor([
        { rows: 18_000, seconds: 60 },
        { rows: 1, seconds: 3600 },
      ]),
    ).toBeCloseTo(450, 1);
  });

  it('spreads them evenly, and does not make up for time in which there was nothing to append', async () => {
    const { turns, take } = paced();
    for (const cells of [20, 20, 20, 20]) void take(cells);
    await passes(160);
    expect(turns).toEqual([0, 20, 40, 60]);
    void take(20);
    void take(20);
    await passes(100);
    expect(turns.slice(4)).toEqual([160, 180]);
  });

  it('rests for as long as the primary was slow, also for turns that wait already, and goes on evenly', async () => {
    const { pace, turns, take } = paced();
    for (let usual = 0; usual < 20; usual += 1) pace.took(5);
    for (const cells of [20, 20, 20, 20]) void take(cells);
    await passes(0);
    // Appends that are slow in one stall: one rest.
    for (const milliseconds of [100, 99, 98]) pace.took(milliseconds);
    await passes(300);
    expect(turns).toEqual([0, 120, 140, 160]);
  });

  it('has no rest for a primary that is always slow', async () => {
    const { pace, turns, take } = paced();
    for (let usual = 0; usual < 200; usual += 1) pace.took(usual < 5 ? 5 : 60);
    await passes(80);
    pace.took(70);
    void take(1);
    void take(1);
    await passes(100);
    expect(turns).toEqual([80, 81]);
  });
});
