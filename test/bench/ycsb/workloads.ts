/** What a client of the benchmark does with a record. */
export type YcsbOperation = 'read' | 'update' | 'insert' | 'scan' | 'read-modify-write';

export interface Workload {
  readonly name: string;
  /** Shares of 1, in the order in which a draw is held against them. */
  readonly mix: Readonly<Partial<Record<YcsbOperation, number>>>;
  /** Which records are asked for: some far more often than others, or the newest most of all. */
  readonly chosen: 'zipfian' | 'latest';
}

/**
 * The six core workloads, with the shares and distributions of B. F. Cooper et al., "Benchmarking Cloud Serving Systems
 * with YCSB", SoCC 2010, and of the files `workloads/workloada` to `workloadf` of github.com/brianfrankcooper/YCSB, in
 * the order in which its wiki says to run them. The files' 1000 records are a number to begin with: here there are
 * 100,000, of the same ten fields of 100 bytes.
 */
export const WORKLOADS: readonly Workload[] = [
  { name: 'A, update heavy', mix: { read: 0.5, update: 0.5 }, chosen: 'zipfian' },
  { name: 'B, read mostly', mix: { read: 0.95, update: 0.05 }, chosen: 'zipfian' },
  { name: 'C, read only', mix: { read: 1 }, chosen: 'zipfian' },
  { name: 'F, read-modify-write', mix: { read: 0.5, 'read-modify-write': 0.5 }, chosen: 'zipfian' },
  { name: 'D, read latest', mix: { read: 0.95, insert: 0.05 }, chosen: 'latest' },
  { name: 'E, short ranges', mix: { scan: 0.95, insert: 0.05 }, chosen: 'zipfian' },
];

export const RECORDS = 100_000;
/** The most inserts that a workload is to come to: twice what 1 in 20 of 17,000 operations a second are. */
export const EXPECTED_INSERTS = 20_000;
/** Records of a scan: 1 to this, all equally likely. */
export const MOST_SCANNED = 100;
