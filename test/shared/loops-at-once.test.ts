import { describe, expect, it } from 'vitest';
import { groupsInSlot } from '../../shared/loops-at-once.ts';

describe.each([1, 7, 100])('%i groups', (count) => {
  const groups = Array.from({ length: count }, (_, position) => `group-${position + 1}`);
  const divided = (of: number, listed = groups) =>
    Array.from({ length: of }, (_, slot) => groupsInSlot(listed, { slot, of }));

  it.each([1, 2, 13])('are each in exactly one of %i slots, in equal parts', (of) => {
    const slots = divided(of);
    expect(slots.flat().toSorted()).toEqual(groups.toSorted());
    const sizes = slots.map(({ length }) => length);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(2);
  });

  it('are in the same slots in whatever order they are listed, and all in the only one', () => {
    expect(divided(3, groups.toReversed())).toEqual(divided(3));
    expect(groupsInSlot(groups)).toEqual(groups.toSorted());
  });
});
