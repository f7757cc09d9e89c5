import type { StoredLog } from '../stored-cells.ts';
import type { SeenLog } from './log-readers.ts';

/** What readers saw, held against what is stored; sums over all readers. */
export interface ReaderVerdict {
  /** Cells that a reader should have seen, times readers. */
  readonly due: number;
  /** Stored, and never seen by a reader. */
  readonly skipped: number;
  /** Seen by a reader again, or after a later one. */
  readonly outOfOrder: number;
  /** Seen with another address or body than is stored. */
  readonly different: number;
  readonly timesBack: number;
  readonly readsFromWriter: number;
  readonly readsFromReader: number;
  readonly failures: number;
  readonly holesMet: number;
  readonly longestHoleMs: number;
  /** Readers that did not come to the end of every log in time. */
  readonly late: number;
}

export function judgeReaders(readers: readonly SeenLog[], logs: readonly StoredLog[]): ReaderVerdict {
  const sums = {
    due: 0,
    skipped: 0,
    outOfOrder: 0,
    different: 0,
    timesBack: 0,
    readsFromWriter: 0,
    readsFromReader: 0,
    failures: 0,
    holesMet: 0,
    longestHoleMs: 0,
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
    sums.holesMet += reader.holesMet;
    sums.longestHoleMs = Math.max(sums.longestHoleMs, reader.longestHoleMs);
    sums.late += reader.reachedEnd ? 0 : 1;
  }
  return sums;
}
