import type { Follower, LogEntry } from '../../follow/follower.ts';
import { columnsOf } from '../entry.ts';
import type { RowOfShard } from '../../sql/statements/select-row-states.ts';
import type { PendingMarks } from './pending-marks.ts';
import type { RepairWork } from './repair-work.ts';
import { repairRows } from './repair-rows.ts';

export const REPAIR_FOLLOWER = 'repair';

/** Follows all logs seconds behind the writes, and writes missing entries; unavailable groups get a mark. */
export function repairFollower(work: RepairWork, pending: PendingMarks, hasLive: boolean): Follower {
  const { datastore, report } = work;
  const tellUnread = firstFailures(work, 'the rows of shard');
  return {
    name: REPAIR_FOLLOWER,
    datastore,
    start: hasLive ? 'start' : 'now',
    async handle(_group, cells) {
      // After the cells were read: a version unlisted now was unlisted when its build took the logs' heads.
      const indexes = await work.indexes.maintained(datastore);
      const columns = new Set(indexes.flatMap(({ definition }) => columnsOf(definition)));
      const concerned = cells.filter(({ column_name }) => columns.has(column_name));
      if (concerned.length > 0) {
        const { written, missed, unread, mistyped } = await repairRows(work, indexes, rowsOf(concerned));
        if (written > 0) report({ datastore, kind: 'repaired', entries: written });
        for (const [group, rows] of missed) {
          const lowest = lowestOf(concerned.filter(({ row_key }) => rows.has(row_key)));
          await pending.mark(group, lowest);
          report({ datastore, kind: 'pending', group, shards: lowest.size });
        }
        tellUnread(cells, unread);
        // A build counts for its version.
        const building = new Set(
          (await work.indexes.catalogues(datastore)).flatMap(({ versions }) =>
            versions.flatMap(({ hash, state }) => (state === 'building' ? [hash] : [])),
          ),
        );
        work.mistyped.add(mistyped.filter(({ index }) => !building.has(index.hash)));
        return lastOf(cells, unread);
      }
      return lastOf(cells);
    },
  };
}

function rowsOf(cells: readonly LogEntry[]): readonly RowOfShard[] {
  return [...Map.groupBy(cells, ({ row_key }) => row_key)].map(([row_key, ofRow]) => ({
    row_key,
    shard: (ofRow[0] as LogEntry).shard,
    columns: ofRow.map(({ column_name }) => column_name),
  }));
}

export function lastOf(
  cells: readonly LogEntry[],
  waiting: ReadonlyMap<number, unknown> = new Map(),
): Map<number, number> {
  return new Map(cells.flatMap(({ shard, added_id }) => (waiting.has(shard) ? [] : [[shard, added_id] as const])));
}

export function firstFailures(
  { datastore, report }: RepairWork,
  what: string,
): (cells: readonly LogEntry[], failures: ReadonlyMap<number, unknown>) => void {
  const failing = new Set<number>();
  return (cells, failures) => {
    for (const { shard } of cells) if (!failures.has(shard)) failing.delete(shard);
    for (const [shard, error] of failures) {
      if (!failing.has(shard)) report({ datastore, kind: 'failed', what: `${what} ${shard}`, error });
      failing.add(shard);
    }
  };
}

function lowestOf(cells: readonly LogEntry[]): Map<number, number> {
  const lowest = new Map<number, number>();
  for (const { shard, added_id } of cells) lowest.set(shard, Math.min(added_id, lowest.get(shard) ?? added_id));
  return lowest;
}
