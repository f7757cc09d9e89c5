import type { ElsewhereAssumptions } from './elsewhere/assumptions.ts';

/** What goes to the groups. */
export interface Sent {
  readonly statements: number;
  /** Statements committed by themselves, and transactions. */
  readonly commits: number;
}

/**
 * What a plan rests on besides prices. **Measured** are figures of the store on one machine of two cores; **chosen**
 * those of the load; **of the code** those that a constant there says; the rest are **estimates**, to be replaced by
 * what an account of one's own shows. Nothing here was measured on AWS.
 */
export interface Assumptions {
  /** Requests to read for each cell written, besides those of triggers. Chosen. */
  readonly readsPerWrite: number;
  /** Bytes of a cell's JSON. Measured: a trip, 927 bytes. */
  readonly cellBytes: number;
  /**
   * Bytes of storage for a cell. Measured: 696 encoded; estimate: a third more for the row, its two keys, and pages
   * that are not full.
   */
  readonly storedCellBytes: number;
  /** Index entries for each cell written, each on a shard of its own. Chosen. */
  readonly entriesPerWrite: number;
  /** Bytes of storage for an index entry of three fields with its keys. Estimate. */
  readonly storedEntryBytes: number;
  /** Triggers that there are, each with a function. Chosen: `bill_rider`, and `echo` of the smoke test. */
  readonly triggers: number;
  /** Those among them that want a cell. Chosen. */
  readonly triggersPerWrite: number;
  /**
   * Requests to read for each call of a trigger's function: the trip with its status. What it writes counts among the
   * writes. Of the code: `functions/examples/billing/bill-trip.ts`.
   */
  readonly readsPerTriggerCall: number;
  /** Months of cells that the storage holds: each further one adds as much again. Chosen. */
  readonly monthsKept: number;

  /**
   * Milliseconds of a write's function: buffer, append and entry, a commit of some 4 ms each, and their ways. Estimate.
   */
  readonly writeMs: number;
  /** Milliseconds of a read's function. Estimate. */
  readonly readMs: number;
  /** Milliseconds for each cell of a trigger's function: three requests over HTTP, and a little of its own. Estimate. */
  readonly triggerCallMs: number;
  /** MB of the functions that answer. Of the code: `infra/constructs/store-functions.ts`. */
  readonly functionMb: number;
  /**
   * MB of `drain-buffer`, `move-shards` and triggers' functions. Of the code: the same, and
   * `infra/constructs/trigger-function.ts`.
   */
  readonly smallFunctionMb: number;
  /**
   * Share of the time that a function which runs all the time runs beside its successor. Estimate: two seconds each
   * minute.
   */
  readonly overlap: number;
  /** Seconds that an instance of a function lives. Estimate. */
  readonly instanceSeconds: number;

  /**
   * Shard databases that a group may hold: Aurora was seen to slow down past some 600 schemas. Of the code:
   * `infra/environments.ts`.
   */
  readonly shardsPerGroup: number;
  /**
   * Writes a second that a group is planned for at most: about half of what was measured of appends alone, so that a
   * writer stays of a middling size. Estimate.
   */
  readonly writesPerGroup: number;
  /**
   * Appends a second that an ACU does at most. Measured: 5,200 over 256 shards on MySQL with two cores, which served
   * the callers, too; estimate: two cores are 8 ACU.
   */
  readonly appendsPerAcu: number;
  /** Share of a writer's capacity that is used on average: the alarm sounds at 85 %, and peaks want room. Chosen. */
  readonly usedShare: number;
  /** What else is done, in appends. Measured: a plain insert is 0.75 of one; the rest are estimates. */
  readonly work: {
    /** A buffered copy: inserted, looked after, deleted. */
    readonly copy: number;
    /** An index entry: the row's latest cells read, the entry written. */
    readonly entry: number;
    readonly read: number;
    /** A cell tailed and repaired, on the readers where there are some. */
    readonly tail: number;
  };
  /**
   * What a put sends, by its parts. Measured: `statements, commits, round trips a cell` of the bench `writes`, one put
   * at a time; those at once share commits, which is not counted on. As the RDS Data API has it, which alone bills
   * statements: over MySQL's protocol a cell is numbered by one more, of the same transaction.
   */
  readonly put: {
    readonly cell: Sent;
    /** The copy in the buffer of another group. */
    readonly copy: Sent;
    /** The row's latest cells read, the entry written. */
    readonly entry: Sent;
  };
  /** I/O of the storage. Estimates, those that move the bill most. */
  readonly io: {
    /** Of each commit of a put, and of one that deletes its copy. */
    readonly commit: number;
    /** To read the page of a random key: of the cell, and of each entry. Copies lie in pages that are there. */
    readonly page: number;
  };
  /** How many times its even share of the statements a group may have at a moment. Estimate. */
  readonly unevenness: number;

  /** Cells a second that a tailer sends for one trigger at most. Estimate. */
  readonly cellsPerTailer: number;
  /**
   * Milliseconds that a tailer takes for a pass over a group's shards, besides the pause: they are read and sent.
   * Estimate.
   */
  readonly passMs: number;
  /** Buffered rows a second that the one run of `drain-buffer` looks after at most. Estimate. */
  readonly drainedPerSecond: number;
  /** Cells a second that the one run of `repair-indexes` compares at most. Estimate. */
  readonly repairedPerSecond: number;
  /** Receives of an empty queue a second: five pollers that wait 20 s each. Commonly given. */
  readonly idleReceives: number;
  /** Bytes of a message with what carries it. Estimate. */
  readonly messageBytes: number;

  /** Bytes of the line of a request in the log of the API. Estimate. */
  readonly accessLineBytes: number;
  /** Bytes that Lambda logs of each call: its start, its end, its report. Estimate. */
  readonly invocationLogBytes: number;
  /** Bytes of a line of metrics: of each write, and of each batch of a trigger. Estimate. */
  readonly metricLineBytes: number;
  /**
   * Share of the calls of a function that give a trace, and how many of each second do in any case. Lambda's own, which
   * cannot be set.
   */
  readonly tracedShare: number;
  readonly tracedPerSecond: number;
  /** Size of kept logs by their size when taken in. Commonly given. */
  readonly logCompression: number;

  /** What the same would rest on in other databases. */
  readonly elsewhere: ElsewhereAssumptions;
}

/** Those of the document: a cell of a trip, one entry, one trigger, as many reads as writes. Put in your own. */
export const ASSUMPTIONS: Assumptions = {
  readsPerWrite: 1,
  cellBytes: 927,
  storedCellBytes: 930,
  entriesPerWrite: 1,
  storedEntryBytes: 300,
  triggers: 2,
  triggersPerWrite: 1,
  readsPerTriggerCall: 1,
  monthsKept: 1,

  writeMs: 25,
  readMs: 10,
  triggerCallMs: 50,
  functionMb: 1769,
  smallFunctionMb: 512,
  overlap: 2 / 60,
  instanceSeconds: 7200,

  shardsPerGroup: 512,
  writesPerGroup: 2500,
  appendsPerAcu: 5200 / 8,
  usedShare: 0.6,
  work: { copy: 1.25, entry: 1, read: 0.2, tail: 0.3 },
  put: {
    cell: { statements: 1, commits: 1 },
    copy: { statements: 1, commits: 1 },
    entry: { statements: 2, commits: 1 },
  },
  io: { commit: 1, page: 1 },
  unevenness: 2,

  cellsPerTailer: 2000,
  passMs: 40,
  drainedPerSecond: 5000,
  repairedPerSecond: 5000,
  idleReceives: 5 / 20,
  messageBytes: 600,

  accessLineBytes: 450,
  invocationLogBytes: 350,
  metricLineBytes: 350,
  tracedShare: 0.05,
  tracedPerSecond: 1,
  logCompression: 0.15,

  elsewhere: {
    encodedCellBytes: 696,
    addressBytes: 80,
    entryBytes: 150,
    itemOverheadBytes: 100,
    provisionedUse: 0.7,
    dsqlWriteMs: 8,
    dsqlReadMs: 3,
    envelopeBytes: 400,
  },
};
