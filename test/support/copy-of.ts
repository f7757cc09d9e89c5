import { randomBytes } from 'node:crypto';
import { encodeBody } from '../../shared/body/codec.ts';
import type { NewCell } from '../../shared/cell.ts';
import type { BufferedCell } from '../../shared/sql/statements/insert-buffered.ts';

/** A write's copy, as it waits in a buffer table. */
export function copyOf(cell: NewCell, shard = 0): BufferedCell {
  return { ...cell, shard, encoded: encodeBody(cell.body), writer: randomBytes(8) };
}
