import { expect, it } from 'vitest';
import { changed, holesOf } from './picture.ts';
import { wentBack, type OffsetSample } from './trigger-offsets.ts';

const look = (rewound_at: string | null, ...offsets: readonly number[]): OffsetSample => ({
  rewound_at,
  offsets: new Map(offsets.entries()),
});

it('takes an offset that is lower than at the look before for one that went back', () => {
  expect(wentBack([look(null, 1, 5), look(null, 2, 4), look(null, 2, 6)])).toEqual({ wrong: 1, of: 4 });
});

it('takes none for it that a rewind set back, once for each shard and rewind, however long that took', () => {
  const later = [look('two', 1, 9), look('two', 2, 0), look('two', 3, 1), look('two', 2, 2), look('two', 3, 1)];
  const samples = [look('one', 9, 9), look('two', 0, 9), ...later, look('three', 0, 0)];
  expect(wentBack(samples)).toEqual({ wrong: 2, of: 14 });
  expect(wentBack(samples, 'not known')).toEqual({ wrong: 6, of: 14 });
});

it('takes none for it that a rewind set back in the middle of a look', () => {
  expect(wentBack([look('one', 9), look('one', 0), look('two', 1)]).wrong).toBe(0);
});

it('counts what is no more as it was, and what is there no more', () => {
  const now = new Map(Object.entries({ same: 'a', other: 'x', more: 'd' }));
  expect(changed(new Map(Object.entries({ same: 'a', other: 'b', gone: 'c' })), now)).toEqual({ wrong: 2, of: 3 });
});

it('counts places of a log without a cell', () => {
  expect(holesOf({ heads: new Map([[3, 3]]), places: new Map(Object.entries({ '3/1': 'a', '3/3': 'c' })) })).toEqual({
    wrong: 1,
    of: 3,
  });
});
