import { scopeOf, targetAt } from '../address.ts';
import { erasedBody, jsonHashOf } from '../body/codec.ts';
import { unpacked } from '../body/packed-body.ts';
import type { Cell, ErasureNote } from '../cell.ts';
import type { StoredCell } from '../sql/cell-rows.ts';

export function erasedCell(stored: StoredCell): Cell {
  const { shard, added_id, row_key, column_name, ref_key, created_at } = stored;
  const body_sha256 = hashOfJson(stored);
  const cell = { row_key, column_name, ref_key, body: null, added_id, shard, created_at, erased: true } as const;
  return { ...cell, ...(body_sha256 !== undefined && { body_sha256 }) };
}

/** Longer hidden bodies are not decoded for their hash. */
const HASHED_BYTES = 65_536;

/** Returns the hash of a body that is not shown, if it can be known. */
function hashOfJson({ erased, hidden, bodyBytes = 0 }: StoredCell): string | undefined {
  if (erased) return jsonHashOf(erased);
  if (!hidden || bodyBytes > hidden.length || hidden.length > HASHED_BYTES) return undefined;
  return jsonHashOf(erasedBody(hidden));
}

export function unlessErasure(cell: Cell): Cell {
  const target = targetAt(cell);
  if (!target) return cell;
  const noted = (unpacked(cell.body) ?? {}) as Partial<Record<'id' | 'reason' | 'why', string>>;
  const { id = '', reason = '', why } = noted;
  const { column_name = '' } = target;
  const erasure: ErasureNote = { id, scope: scopeOf(target), reason, ...(why === 'retention' && { why }) };
  return { ...cell, column_name, body: null, erasure };
}
