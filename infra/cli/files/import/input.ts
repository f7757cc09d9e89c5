import type { Fingerprint } from './journal.ts';
import type { DefaultRefKey } from './ndjson-source.ts';
import type { CellSource } from './source.ts';

export type InputFormat = 'ndjson' | 'csv';

export interface InputOptions {
  /** @default as the name says: `.csv`, else ndjson */
  readonly format?: InputFormat | undefined;
  readonly mapping?: string | undefined;
  readonly defaultRefKey?: DefaultRefKey | undefined;
  /** Whether cells are stored with the times that the input says. @default `kept` of an export, else `new` */
  readonly times?: 'kept' | 'new' | undefined;
}

export interface Input {
  readonly sources: readonly CellSource[];
  /** What tells whether it is the same later on; none of a pipe. */
  readonly fingerprints: readonly Fingerprint[];
  readonly areTimesKept: boolean;
  /** Whatever else decides which cells it holds. */
  readonly reading: Readonly<Record<string, unknown>>;
}
