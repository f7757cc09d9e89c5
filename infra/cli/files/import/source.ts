import type { NewCell, RestoredCell } from '../../../../shared/cell.ts';
import { FilesError, listed } from '../../../../shared/files/files-error.ts';

export interface Position {
  /** Items: lines of NDJSON that are not blank, records of CSV. */
  readonly items: number;
  /** Bytes, of what the file holds once decompressed. */
  readonly bytes: number;
}

export const START: Position = { items: 0, bytes: 0 };

export interface Reject {
  readonly code: string;
  readonly reason: string;
  readonly field?: string | undefined;
  readonly text?: string | undefined;
}

/** Codes that only an import gives, besides those of the API. */
export const REJECT_CODES = {
  line_too_long: 'The line is longer than a cell can be',
  not_utf8: 'The line, or the record, is not UTF-8',
  erased: 'The cell was erased before it was exported: there is no body to import',
  erasure: 'This is an erasure, not a cell: ask for it with `schemaless erase`',
  undecodable_body: 'The body could not be decoded when the cell was exported',
  csv_record: 'The record is not CSV as the file has it otherwise',
  csv_value: 'The value is not of the type that the mapping says',
} as const;

/** A cell as its source has it: with its time, in UTC with six decimals, where that is to be kept. */
export type SourceCell = NewCell & Partial<Pick<RestoredCell, 'created_at'>>;

/** What one line, or one record, says. */
interface ItemPlace {
  readonly line: number;
  /** Where the next one begins. */
  readonly end: Position;
  /** As text: what it takes of memory, about. */
  readonly bytes: number;
}

export type CellItem = ItemPlace & { readonly cell: SourceCell; readonly reject?: undefined };
export type SourceItem = CellItem | (ItemPlace & { readonly cell?: undefined; readonly reject: Reject });

export type End = 'stored' | 'stored_before' | 'buffered' | 'rejected';

export interface Settlement {
  readonly end: End;
  readonly reject?: Reject;
}

export interface CellSource {
  readonly name: string;
  readonly size: number | undefined;
  readonly bytesRead: () => number;
  readonly textRead: () => number;
  /** Items in their order, some at a time. May be called once. */
  readonly read: (from: Position) => AsyncIterable<readonly SourceItem[]>;
  /** Once all is read: how the file is not what it should be, each a clause. */
  readonly faults?: (() => readonly string[]) | undefined;
}

/** Once all is read. Throws `bad_input` where files are not as their manifests say. */
export function checkSources(sources: readonly CellSource[], done: 'imported' | 'compared'): void {
  const faults = sources.flatMap((source) => source.faults?.() ?? []);
  if (faults.length === 0) return;
  throw new FilesError(
    'bad_input',
    `input: wanted the files that the manifests of the export say; all that could be read was ${done}, but ${listed(faults)}`,
  );
}
