import type { StoredLog } from '../stored-cells.ts';
import type { SeenLog } from './log-readers.ts';

/** Compares the cells that readers saw with the stored ones. Sums are over all readers. */
export function judgeReaders(readers: readonly SeenLog[], logs: readonly StoredLog[]) {
  const sums = {
    /** Cells that each reader should have seen, times readers. */
    due: 0,
    /** Stored cells that a reader never saw. */
    skipped: 0,
    /** Cells that a reader saw again, or after a later one. */
    outOfOrder: 0,
    /** Cells seen with another address or body than stored. */
    different: 0,
    timesBack: 0,
    readsFromWriter: 0,
    readsFromReader: 0,
    failures: 0,
    late: 0,
  };
  for (const reader of readers) {
    for (const { shard, ids, marks } of logs) {
      const seen = reader.shards[shard] ?? { ids: [], marks: [], timesBack: 0 };
      const bySeenId = new Map(seen.ids.map((id, position) => [id, seen.marks[position]]));
      sums.due += ids.length;
      sums.skipped += ids.filter((id) => !bySeenId.has(id)).length;
      sums.outOfOrder += seen.ids.filter((id, position) => id <= (seen.ids[position - 1] ?? 0)).length;
      sums.different += ids.filter((id, position) => bySeenId.has(id) && bySeenId.get(id) !== marks[position]).length;
      sums.timesBack += seen.timesBack;
    }
    sums.readsFromWriter += reader.reads.writer;
    sums.readsFromReader += reader.reads.reader;
    sums.failures += reader.failures;
    sums.late += reader.reachedEnd ? 0 : 1;
  }
  return sums;
}
