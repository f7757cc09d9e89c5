import { expect, it } from 'vitest';
import type { PacedWrite } from '../outage/paced-load.ts';
import { countEarly } from './early-deletes.ts';

const write = (row_key: string, over: Partial<PacedWrite> = {}): PacedWrite => ({ sentAt: 1500, milliseconds: 5, row_key, shard: 1, outcome: 'stored', ...over });

it('a stored write whose row is gone while no reader is there counts, and no other one', () => {
  const writes = [
    write('kept'),
    write('gone'),
    write('before the readers died', { sentAt: 900 }),
    write('answered after the look', { sentAt: 1996 }),
    write('of another group', { shard: 2 }),
    write('buffered only', { outcome: 'buffered' }),
  ];
  expect(countEarly(writes, new Set([1]), 1000, { takenAt: 2000, rowKeys: new Set(['kept']) })).toEqual({ due: 2, early: 1 });
});
