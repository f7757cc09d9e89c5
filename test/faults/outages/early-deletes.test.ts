import { expect, it } from 'vitest';
import { countEarly, type StoredWrite } from './early-deletes.ts';

const write = (row_key: string, over: Partial<StoredWrite> = {}): StoredWrite => ({
  begun: 1500,
  ended: 1505,
  row_key,
  shard: 1,
  outcome: 'stored',
  ...over,
});

it('a stored write whose row is gone while no reader is there counts, and no other one', () => {
  const writes = [
    write('kept'),
    write('gone'),
    write('before the readers died', { begun: 900, ended: 905 }),
    write('answered after the look', { begun: 1996, ended: 2001 }),
    write('of another group', { shard: 2 }),
    write('buffered only', { outcome: 'buffered' }),
  ];
  expect(countEarly(writes, new Set([1]), 1000, { takenAt: 2000, rowKeys: new Set(['kept']) })).toEqual({
    wrong: 1,
    of: 2,
  });
});
