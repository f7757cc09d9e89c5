import type { FileProgress } from '../../../../shared/files/file-progress.ts';
import type { Journal } from './journal.ts';
import type { CellSource } from './source.ts';

export interface ImportOptions {
  readonly sources: readonly CellSource[];
  readonly areTimesKept?: boolean | undefined;
  readonly journal: Journal;
  /** Where the journal is kept; left out, it is not, as for what comes from a pipe. */
  readonly journalPath?: string | undefined;
  readonly rejectsPath: string;
  readonly maxRejects?: number | undefined;
  readonly concurrency?: number | undefined;
  /** Milliseconds without a stored cell after which it is given up. @default 600,000 */
  readonly patienceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly progress?: FileProgress | undefined;
}
