import { randomBytes } from 'node:crypto';
import type { BufferedCell } from '../../shared/sql/encoded-cell.ts';
import { encodeBody } from '../../shared/body/codec.ts';
import type { NewCell } from '../../shared/cell.ts';
import type { SqlParameter } from '../../shared/sql/client.ts';

/** A write's copy, as it waits in a buffer table. */
export function copyOf(cell: NewCell, shard = 0): BufferedCell {
  return { ...cell, shard, encoded: encodeBody(cell.body), writer: randomBytes(8) };
}

/** Parameters of a statement as a plain connection takes them. */
export function asBound(parameters: readonly SqlParameter[]): (string | number | Buffer)[] {
  return parameters.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value)) as (
    | string
    | number
    | Buffer
  )[];
}
