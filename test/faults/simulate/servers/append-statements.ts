import { beginOf } from '../../../../shared/body/transaction-mark.ts';
import { SqlError } from '../../../../shared/sql/client.ts';
import { bound, cellsOf, NOTHING_WRITTEN, shardsIn, type Execution, type Plan, type Written } from './plan.ts';
import { keptCell, type KeptCell } from './tables.ts';

/**
 * Plans `append-cells` and `append-transaction`. Their guards are read from their text: an absent clause guards nothing here
 * either.
 */
export function planAppend(sql: string): Plan | undefined {
  if (
    !/^INSERT INTO `\w+`\.`entity` \(added_id, row_key, column_name, ref_key, body, created_at\) SELECT LAST_INSERT_ID\(COALESCE\(last\.added_id, log\.first_id - 1\) \+ /.test(
      sql,
    )
  )
    return undefined;
  const [shard = -1] = shardsIn(sql);
  const isLocked = sql.endsWith('FOR UPDATE') && sql.includes('LIMIT 1 FOR UPDATE)');
  const isOne = !sql.includes('ROW_NUMBER()');
  const leavesOut = sql.includes('old.added_id IS NULL');
  const cells = isOne ? 1 : sql.split(' UNION ALL ').length;
  const isWhole = sql.includes(' AND log.has_erasures = 0') && !leavesOut;
  const conditions = sql.split('(SELECT latest.ref_key ').length - 1;
  if (!isLocked || (cells > 1 && !leavesOut && !isWhole))
    throw new Error('an append without its locks, or without leaving out what is there, cannot be simulated');
  const one: Append = {
    cells,
    conditions,
    byEpoch: sql.includes('log.epoch = ?'),
    byState: sql.includes("log.state = 'open'"),
    byWriter: sql.includes('(log.writer_id IS NULL OR log.writer_id = @@server_id)'),
    leavesOut,
    bindsAddressTwice: isOne && leavesOut,
    isLater: sql.includes('last.created_at + INTERVAL 1 MICROSECOND'),
    bindsErasures: isOne && sql.includes('past.added_id IS NULL'),
  };
  return { kind: 'append', shards: [shard], write: (execution) => append(execution, shard, one) };
}

interface Append extends Readonly<Record<'byEpoch' | 'byState' | 'byWriter' | 'leavesOut', boolean>> {
  /** The number of cells in the append. */
  readonly cells: number;
  /** Of a transaction: how many columns must have a certain latest cell. */
  readonly conditions: number;
  /** As in the statement for one cell, to skip an existing one. */
  readonly bindsAddressTwice: boolean;
  /** Its cells are later than the last one. */
  readonly isLater: boolean;
  /** The same for erasures, of which there are none here. */
  readonly bindsErasures: boolean;
}

function append(execution: Execution, shard: number, guards: Append): Written {
  const values = bound(execution.parameters);
  const wanted = Array.from({ length: guards.cells }, () => values.some('bytes', 'bytes', 'number', 'bytes'));
  if (guards.bindsAddressTwice) values.some('bytes', 'bytes', 'number');
  if (guards.bindsErasures) values.some('bytes', 'bytes', 'bytes', 'number', 'bytes', 'bytes', 'number');
  values.some('text', 'number');
  const epoch = guards.byEpoch ? values.number() : undefined;
  const log = cellsOf(execution, shard);
  const row = execution.tables.shards.get(shard);
  if (
    !row ||
    (guards.byState && row.state !== 'open') ||
    (epoch !== undefined && row.epoch !== epoch) ||
    (guards.byWriter && row.writerId !== execution.serverId)
  )
    return NOTHING_WRITTEN;

  for (let left = guards.conditions; left > 0; left -= 1) {
    const [rowKey, columnName, latest] = values.some('bytes', 'bytes', 'number');
    if (latestOf(log.cells, rowKey, columnName) !== latest) return NOTHING_WRITTEN;
  }
  const last = log.cells.at(-1);
  const cells: KeptCell[] = [];
  for (const cell of wanted) {
    const createdAt = Math.max(execution.now, (last?.createdAt ?? 0) + Number(guards.isLater));
    const kept = keptCell(shard, cell, { added_id: (last?.added_id ?? 0) + cells.length + 1, createdAt });
    if (guards.leavesOut && log.byAddress.has(kept.address)) continue;
    const isRepeated = execution.flaws.repeatsTransactions === true && beginOf(kept.body) !== undefined;
    if ((log.byAddress.has(kept.address) && !isRepeated) || cells.some(({ address }) => address === kept.address))
      throw new SqlError('duplicate', `Duplicate entry for key 'cell'`, { errno: 1062, key: 'cell' });
    cells.push(kept);
  }
  return {
    affectedRows: cells.length,
    insertId: cells.at(-1)?.added_id ?? 0,
    changes: cells.length > 0 ? [{ kind: 'appended', shard, cells }] : [],
  };
}

/** Returns the highest ref key of a column; -1 if it has no cell. */
export function latestOf(cells: readonly KeptCell[], rowKey: Uint8Array, columnName: Uint8Array): number {
  const isOf = (cell: KeptCell): boolean =>
    Buffer.compare(cell.rowKey, rowKey) === 0 && Buffer.compare(cell.columnName, columnName) === 0;
  return cells.reduce((latest, cell) => (isOf(cell) ? Math.max(latest, cell.ref_key) : latest), -1);
}
