import type { Cell, NewCell, RestoredCell } from '../../../../shared/cell.ts';
import { FilesError, listed } from '../../../../shared/files/files-error.ts';

export interface Position {
  /** The number of items: lines of NDJSON, records and empty lines of CSV. */
  readonly items: number;
  /** The number of bytes of the decompressed file. */
  readonly bytes: number;
}

export const START: Position = { items: 0, bytes: 0 };

export interface Reject {
  readonly code: string;
  readonly reason: string;
  readonly field?: string | undefined;
  readonly text?: string | undefined;
}

/** The codes of an import in addition to the API's. */
const REJECT_CODES = {
  line_too_long: 'The line is longer than a cell can be',
  not_utf8: 'The line, or the record, is not UTF-8',
  erased: 'The cell was erased before it was exported: there is no body to import',
  erasure: 'This is an erasure, not a cell: ask for it with `schemaless erase`',
  undecodable_body: 'The body could not be decoded when the cell was exported',
  csv_record: 'The record is not CSV as the file has it otherwise',
  csv_value: 'The value is not of the type that the mapping says',
} as const;

/** A cell of a source, with its time, in UTC with six decimals, if the import keeps times; with its transaction, if any. */
export type SourceCell = NewCell & Partial<Pick<RestoredCell, 'created_at'>> & Pick<Cell, 'transaction'>;

/** The reject of such a line, without its text. */
export function rejectOf(code: keyof typeof REJECT_CODES): Reject {
  return { code, reason: REJECT_CODES[code] };
}

/** The position of one line or record. */
interface ItemPlace {
  /** The first line. */
  readonly line: number;
  /** The last line. @default the first */
  readonly lastLine?: number;
  /** The start of the next one. */
  readonly end: Position;
  /** Its bytes as text, about its size in memory. */
  readonly bytes: number;
}

export type CellItem = ItemPlace & { readonly cell: SourceCell; readonly reject?: undefined };
type RejectItem = ItemPlace & { readonly cell?: undefined; readonly reject: Reject };
/** An empty line. */
type SkippedItem = ItemPlace & { readonly cell?: undefined; readonly reject?: undefined };
export type SourceItem = CellItem | RejectItem | SkippedItem;

export type End = 'stored' | 'stored_before' | 'buffered' | 'skipped' | 'rejected';

export interface Settlement {
  readonly end: End;
  readonly reject?: Reject;
}

export interface CellSource {
  readonly name: string;
  readonly size: number | undefined;
  readonly bytesRead: () => number;
  readonly textRead: () => number;
  /** Yields items in order, some at a time: those of a transaction together. May be called once. */
  readonly read: (from: Position) => AsyncIterable<readonly SourceItem[]>;
  /** Returns the faults of the file after it is read, each a clause. */
  readonly faults?: (() => readonly string[]) | undefined;
}

/** Checks files after they are read. Throws `bad_input` if they differ from their manifests. */
export function checkSources(sources: readonly CellSource[], done: 'imported' | 'compared'): void {
  const faults = sources.flatMap((source) => source.faults?.() ?? []);
  if (faults.length === 0) return;
  throw new FilesError(
    'bad_input',
    `input: wanted the files that the manifests of the export say; all that could be read was ${done}, but ${listed(faults)}`,
  );
}
