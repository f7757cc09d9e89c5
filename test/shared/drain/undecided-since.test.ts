import { describe, expect, it } from 'vitest';
import { undecidedSince } from '../../../shared/drain/undecided-since.ts';

const [one, other] = [Buffer.from('one'), Buffer.from('other')];

describe('the time that bodies have waited at an address', () => {
  function looks() {
    let now = 0;
    const since = undecidedSince(30_000, () => now);
    return { after: (milliseconds: number) => ((now += milliseconds), since.look()) };
  }

  it('is that of each body: one that came a moment ago may still be under way', () => {
    const { after } = looks();
    const first = after(0);
    first.hasWaited('trips/1', one);
    first.end();
    const second = after(30_000);
    expect([second.hasWaited('trips/1', one), second.hasWaited('trips/1', other)]).toEqual([true, false]);
  });

  it('goes on where a look was broken off before it came to the address', () => {
    const { after } = looks();
    const first = after(0);
    first.hasWaited('trips/1', one);
    first.end();
    after(15_000);
    expect(after(15_000).hasWaited('trips/1', one)).toBe(true);
  });

  it('begins anew once a whole look has not seen it', () => {
    const { after } = looks();
    const first = after(0);
    first.hasWaited('trips/1', one);
    first.end();
    after(15_000).end();
    expect(after(15_000).hasWaited('trips/1', one)).toBe(false);
  });
});
