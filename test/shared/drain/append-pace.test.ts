import { describe, expect, it } from 'vitest';
import { appendPace, rateFor } from '../../../shared/drain/append-pace.ts';

describe('the pace of appends', () => {
  it.each([
    ['an outage of a minute, 300 writes a second', { rows: 18_000, seconds: 60 }, 600],
    ['a few rows of a primary that is seldom written', { rows: 600, seconds: 600 }, 100],
    ['what came just now', { rows: 1000, seconds: 0.1 }, 2000],
    ['nothing', { rows: 0, seconds: 0 }, 100],
  ])('is twice that of %s', (_what, backlog, perSecond) => {
    expect(rateFor([backlog])).toBe(perSecond);
  });

  it('is that of a backlog that came in a minute, though one row of another shard has waited for an hour', () => {
    expect(
      rateFor([
        { rows: 18_000, seconds: 60 },
        { rows: 1, seconds: 3600 },
      ]),
    ).toBeCloseTo(600, 1);
  });

  it('spreads them evenly, and does not make up for time in which there was nothing to append', async () => {
    const pace = appendPace(() => 1000);
    const since = performance.now();
    const turns: number[] = [];
    await Promise.all(
      [20, 20, 20, 20].map(async (cells) => (await pace(cells), turns.push(performance.now() - since))),
    );
    for (const [place, turn] of turns.entries()) expect(turn).toBeGreaterThan(place * 20 - 5);
    await new Promise((done) => void setTimeout(done, 100));
    const later = performance.now();
    await pace(20);
    await pace(20);
    expect(performance.now() - later).toBeGreaterThan(15);
  });
});
