import { rowKeyOf } from '../../../shared/address.ts';
import { toBytes } from '../../../shared/sql/cell-rows.ts';
import { CONTROL } from '../../../shared/sql/names.ts';
import type { BufferTables } from './buffer-tables.ts';
import type { Share } from '../fault-run.ts';
import type { Answer } from '../load/ask.ts';

interface BufferSnapshot {
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

/** Of the writes stored after the readers died (epoch milliseconds), those whose rows were gone with readers down. */
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

export type StoredWrite = Pick<Answer, 'begun' | 'ended' | 'row_key' | 'shard' | 'outcome'>;
