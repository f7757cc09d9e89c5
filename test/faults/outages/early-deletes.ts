import { rowKeyOf } from '../../../shared/address.ts';
import { toBytes } from '../../../shared/sql/cell-rows.ts';
import { CONTROL } from '../../../shared/sql/names.ts';
import type { BufferTables } from './buffer-tables.ts';
import type { Share } from '../fault-run.ts';
import type { Answer } from '../load/ask.ts';

/** The buffered rows of some shards at one moment. */
export interface BufferSnapshot {
  /** Milliseconds since 1970. */
  readonly takenAt: number;
  readonly rowKeys: ReadonlySet<string>;
}

export async function takeSnapshot(tables: BufferTables, shards: ReadonlySet<number>): Promise<BufferSnapshot> {
  const sql = `SELECT row_key FROM ${CONTROL}.buffer WHERE shard IN (${[...shards].map(() => '?').join(', ')})`;
  const takenAt = Date.now();
  const found = await tables.rows(sql, [...shards]);
  return { takenAt, rowKeys: new Set(found.map(([rowKey]) => rowKeyOf(toBytes(rowKey)))) };
}

/**
 * Of the writes stored while no reader was there to show them, those whose rows were gone from every buffer table, with
 * the readers still down.
 *
 * @param downAt when the readers were gone, in milliseconds since 1970
 */
export function countEarly(
  writes: readonly StoredWrite[],
  shards: ReadonlySet<number>,
  downAt: number,
  { takenAt, rowKeys }: BufferSnapshot,
): Share {
  const isDue = ({ begun, ended, shard, outcome }: StoredWrite): boolean =>
    outcome === 'stored' && shards.has(shard) && begun > downAt && ended < takenAt;
  const due = writes.filter(isDue);
  return { wrong: due.filter(({ row_key }) => !rowKeys.has(row_key)).length, of: due.length };
}

/** What of an answer is looked at here. */
export type StoredWrite = Pick<Answer, 'begun' | 'ended' | 'row_key' | 'shard' | 'outcome'>;
