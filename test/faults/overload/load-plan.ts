import type { AckedCell } from '../stored-cells.ts';
import type { Written } from '../load/ledger.ts';

/** What the load is told; plain data. */
export interface LoadPlan {
  readonly url: string;
  readonly seed: string;
  /** Accepted writes a second at best. @default measured first, with the latency of a gentle load */
  readonly normal?: Normal | undefined;
  readonly overloadSeconds: number;
  /** How long a gentle load is watched after the overload; 0: it ends there. */
  readonly recoverySeconds: number;
  /** How long requests that are still under way then are waited for. */
  readonly patienceSeconds: number;
  /** `unbounded`: the client repeats what is refused until it is accepted. */
  readonly retries: 'as they are' | 'unbounded';
}

/** The stack with no more load than it can take. */
export interface Normal {
  /** Accepted writes a second, at best. */
  readonly peak: number;
  /** Of a load of a tenth of that, in milliseconds. */
  readonly gentleP99: number;
}

/** What came of it. */
export interface LoadResult {
  readonly normal: Normal;
  /** Requests due a second during the overload, and those that were started. */
  readonly offered: number;
  readonly requests: number;
  /** Requests sent for them. */
  readonly tries: number;
  /** Accepted writes a second during the overload, once it had set in. */
  readonly goodput: number;
  /** After the overload; undefined when the latency stayed high. */
  readonly recoverySeconds: number | undefined;
  /** Until a try was answered, whatever the answer was, or so far: p99 in milliseconds. */
  readonly waitedP99: number;
  /** Tries that were answered 503. */
  readonly refusals: Readonly<Record<'count' | 'withoutRetryAfter', number>>;
  /** By how much the load itself was late in starting requests, p99 in milliseconds. */
  readonly latenessP99: number;
  /** Requests that had not ended when the load did. */
  readonly open: number;
  readonly written: Written;
  /** Cells that were not accepted, some of them. */
  readonly refusedCells: readonly AckedCell[];
}

export interface LoadProgress {
  readonly line?: string;
  readonly result?: LoadResult;
}
