import { describe, expect, it } from 'vitest';
import { undecidedSince } from '../../../shared/drain/bring-back-shard.ts';

const [one, other] = [Buffer.from('one'), Buffer.from('other')];

/** Looks after some time, where a first one has seen one body. */
function looks() {
  let now = 0;
  const since = undecidedSince(30_000, () => now);
  const first = since.look();
  first.hasWaited('trips/1', one);
  first.end();
  return (milliseconds: number) => ((now += milliseconds), since.look());
}

describe('the time that bodies have waited at an address', () => {
  it('is that of each body: one that came a moment ago may still be under way', () => {
    const second = looks()(30_000);
    expect([second.hasWaited('trips/1', one), second.hasWaited('trips/1', other)]).toEqual([true, false]);
  });

  it('goes on where a look was broken off before it came to the address, and begins anew after a whole one', () => {
    const [brokenOff, whole] = [looks(), looks()];
    brokenOff(15_000);
    expect(brokenOff(15_000).hasWaited('trips/1', one)).toBe(true);
    whole(15_000).end();
    expect(whole(15_000).hasWaited('trips/1', one)).toBe(false);
  });
});
