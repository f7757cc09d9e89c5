import { describe, expect, it } from 'vitest';
import { appendPace, rateFor } from '../../../shared/drain/append-pace.ts';
import { TIMED } from '../../support/timed.ts';

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
    const pace = appendPace(() => 1000);
    const since = performance.now();
    const turns: number[] = [];
    await Promise.all(
      [20, 20, 20, 20].map(async (cells) => (await pace.turn(cells), turns.push(performance.now() - since))),
    );
    for (const [position, turn] of turns.entries()) expect(turn).toBeGreaterThan(position * 20 - 5);
    await new Promise((done) => void setTimeout(done, 100));
    const later = performance.now();
    await pace.turn(20);
    await pace.turn(20);
    expect(performance.now() - later).toBeGreaterThan(15);
  });

  it(
    'leaves a primary in peace for as long as it was slow, those who wait already among them, and goes on evenly',
    TIMED,
    async () => {
      const pace = appendPace(() => 1000);
      for (let usual = 0; usual < 20; usual += 1) pace.took(5);
      await pace.turn(20);
      const since = performance.now();
      const waiting = [20, 20, 20].map(async (cells) => (await pace.turn(cells), performance.now() - since));
      // Side by side in one stall: one rest.
      for (const milliseconds of [100, 99, 98]) pace.took(milliseconds);
      const turns = await Promise.all(waiting);
      for (const [position, turn] of turns.entries()) {
        expect(turn).toBeGreaterThan(100 + position * 20 - 5);
        expect(turn).toBeLessThan(190 + position * 20);
      }
    },
  );

  it('has no rest for a primary that is always slow', TIMED, async () => {
    const pace = appendPace(() => 1000);
    for (let usual = 0; usual < 200; usual += 1) pace.took(usual < 5 ? 5 : 60);
    await new Promise((done) => void setTimeout(done, 80));
    pace.took(70);
    const since = performance.now();
    await pace.turn(1);
    await pace.turn(1);
    expect(performance.now() - since).toBeLessThan(50);
  });
});
