import type { EncodedCell } from '../sql/encoded-cell.ts';
import { equalJson } from '../body/equal.ts';
import type { PutResult } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { decodeCell } from '../access/decode.ts';
import type { StoredCell } from '../sql/cell-rows.ts';
import type { SqlChange } from '../sql/client.ts';
import type { Met } from './erasure-checks.ts';

export type AppendResult = Extract<PutResult, { outcome: 'stored' | 'stored_before' | 'conflict' | 'erased' }>;

/** Whether a cell is not stored: another body is at its address, or it was erased. */
export function isRefused<Result extends Pick<PutResult, 'outcome'>>(
  result: Result,
): result is Extract<Result, { outcome: 'conflict' | 'erased' }> {
  return result.outcome === 'conflict' || result.outcome === 'erased';
}

/** Tells what an append did with a cell that it found at its address, or wrote. */
export function judge(
  found: NonNullable<Met['found'][number]>,
  shard: number,
  cell: EncodedCell,
  change: SqlChange,
): AppendResult {
  if (found === 'erased') return { outcome: 'erased', shard };
  const { added_id, created_at } = found;
  if (added_id > change.insertId - change.affectedRows && added_id <= change.insertId)
    return { outcome: 'stored', shard, added_id, created_at };
  if (!sameBody(found, cell)) return { outcome: 'conflict', shard, added_id };
  return { outcome: 'stored_before', shard, added_id, created_at };
}

/** Compares decoded values; equal bytes need no decoding. An erased or damaged body equals nothing. */
export function sameBody(found: StoredCell, cell: EncodedCell): boolean {
  if (found.body === null) return false;
  if (Buffer.compare(found.body, cell.encoded) === 0) return true;
  try {
    return equalJson(decodeCell(found).body, cell.body);
  } catch (error) {
    if (error instanceof SchemalessError) return false;
    throw error;
  }
}
