import { rowKeyOf } from '../../../shared/address.ts';
import { toBytes } from '../../../shared/sql/cell-rows.ts';
import { CONTROL } from '../../../shared/sql/names.ts';
import type { BufferTables } from '../outage/buffer-tables.ts';
import { clock } from '../outage/latency.ts';
import type { PacedWrite } from '../outage/paced-load.ts';

/** The buffered rows of some shards at one moment. */
export interface BufferSnapshot {
  /** Milliseconds since 1970. */
  readonly takenAt: number;
  readonly rowKeys: ReadonlySet<string>;
}

export async function takeSnapshot(tables: BufferTables, shards: ReadonlySet<number>): Promise<BufferSnapshot> {
  const sql = `SELECT row_key FROM ${CONTROL}.buffer WHERE shard IN (${[...shards].map(() => '?').join(', ')})`;
  const takenAt = clock();
  const found = await Promise.all(tables.groups.map((group) => tables.client(group).select({ sql, parameters: [...shards] }, 'writer')));
  return { takenAt, rowKeys: new Set(found.flat().map(([rowKey]) => rowKeyOf(toBytes(rowKey)))) };
}

export interface EarlyDeletes {
  /** Writes stored while no reader was there to show them. */
  readonly due: number;
  /** Those of them whose rows were gone from every buffer table, with the readers still down. */
  readonly early: number;
}

/** @param downAt when the readers were gone, by the clock of `sentAt` */
export function countEarly(writes: readonly PacedWrite[], shards: ReadonlySet<number>, downAt: number, { takenAt, rowKeys }: BufferSnapshot): EarlyDeletes {
  const due = writes.filter(({ sentAt, milliseconds, shard, outcome }) => outcome === 'stored' && shards.has(shard) && sentAt > downAt && sentAt + milliseconds < takenAt);
  return { due: due.length, early: due.filter(({ row_key }) => !rowKeys.has(row_key)).length };
}
