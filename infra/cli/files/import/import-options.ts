import type { FileProgress } from '../../../../shared/files/file-progress.ts';
import type { Journal } from './journal.ts';
import type { CellSource } from './source.ts';

export interface ImportOptions {
  /** Read side by side, some at a time; order is kept within each. */
  readonly sources: readonly CellSource[];
  /** The cells are stored with the times that they bring. @default with that of their storing */
  readonly areTimesKept?: boolean | undefined;
  /** How far it came before; a new one otherwise. */
  readonly journal: Journal;
  /** Where the journal is kept; left out, it is not, as for what comes from a pipe. */
  readonly journalPath?: string | undefined;
  readonly rejectsPath: string;
  /** More rejects end the import. @default 1000 */
  readonly maxRejects?: number | undefined;
  /** Batches under way at once. @default 8 */
  readonly concurrency?: number | undefined;
  /** Milliseconds without a stored cell after which it is given up. @default 600,000 */
  readonly patienceMs?: number | undefined;
  /** Ends the import; what is under way is waited for. */
  readonly signal?: AbortSignal | undefined;
  readonly progress?: FileProgress | undefined;
}
