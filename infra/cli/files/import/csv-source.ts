import { isUtf8 } from 'node:buffer';
import { parseAddress } from '../../../../shared/address.ts';
import { SchemalessError } from '../../../../shared/errors.ts';
import { FilesError } from '../../../../shared/files/files-error.ts';
import { cellReader, type CellReader } from './csv-cells.ts';
import { columnsOf, type Mapping } from './csv-mapping.ts';
import { recordAt, RECORD_BYTES, type CsvRecord, type RecordShape, type TextLine } from './csv-records.ts';
import { CsvValueError } from './csv-values.ts';
import { inUtf8, type OpenBytes } from './open-bytes.ts';
import { readLines, type Line } from './read-lines.ts';
import { rejectOf, type CellSource, type Position, type Reject, type SourceCell, type SourceItem } from './source.ts';

/** A window ends with a piece, but a broken record releases 100,000 lines at once. */
const PIECE_ITEMS = 1000;
const REPLACEMENT = '\uFFFD';
/** A lone surrogate, which text in UTF-8 never has. */
const NO_TEXT = '\uD800';
/** The first line by which Excel is told the delimiter. */
const SEPARATOR = /^sep=([^"\u{10000}-\u{10FFFF}])$/iu;

export interface CsvOptions {
  readonly name: string;
  readonly size: number | undefined;
  readonly open: () => OpenBytes;
  readonly mapping: Mapping;
  /** @default the times of records are ignored */
  readonly areTimesKept?: boolean | undefined;
}

/** Reads cells from CSV with a header line, always from the start: line ends inside quotes hide where records begin. */
export function csvSource({ name, size, open, mapping: desired, areTimesKept = false }: CsvOptions): CellSource {
  const mapping = areTimesKept ? desired : { ...desired, created_at: undefined };
  let opened: OpenBytes | undefined;
  return {
    name,
    size,
    bytesRead: () => opened?.bytesRead() ?? 0,
    textRead: () => opened?.textRead() ?? 0,
    async *read(from: Position) {
      opened = inUtf8(open(), name);
      const records = new Records(name, mapping);
      for await (const lines of readLines(opened.stream, RECORD_BYTES)) yield* some(records.add(lines), from);
      yield* some(records.end(), from);
    },
  };
}

function* some(items: readonly SourceItem[], from: Position): Iterable<readonly SourceItem[]> {
  const fresh = items.filter(({ end }) => end.items > from.items);
  for (let at = 0; at < fresh.length; at += PIECE_ITEMS) yield fresh.slice(at, at + PIECE_ITEMS);
}

class Records {
  readonly #file: string;
  readonly #mapping: Mapping;
  /** The lines of the records that have not ended. */
  #lines: TextLine[] = [];
  #shape: RecordShape;
  #read: CellReader | undefined;
  #items = 0;
  #records = 0;

  constructor(file: string, mapping: Mapping) {
    this.#file = file;
    this.#mapping = mapping;
    this.#shape = { delimiter: mapping.delimiter, width: undefined };
  }

  /** Returns the records that are now complete, and the empty lines between them. */
  add(lines: readonly Line[], isWhole = false): readonly SourceItem[] {
    for (const line of lines) this.#addLine(line);
    const items: SourceItem[] = [];
    let at = 0;
    for (let line = this.#lines[at]; line; line = this.#lines[at]) {
      const record = line.text === '' ? { lines: [line] } : recordAt(this.#lines, at, this.#shape, isWhole);
      if (!record) break;
      at += record.lines.length;
      if (!('fault' in record) || this.#read) items.push(this.#itemOf(record));
      else this.#readHeader(record);
    }
    this.#lines = this.#lines.slice(at);
    return items;
  }

  end(): readonly SourceItem[] {
    return this.add([], true);
  }

  #addLine({ bytes, ...line }: Line): void {
    const read = bytes?.toString();
    // U+FFFD may be in the file, or replace what is not UTF-8.
    const isText = !bytes || !read?.includes(REPLACEMENT) || isUtf8(bytes);
    let text = isText ? read : read?.replaceAll(REPLACEMENT, NO_TEXT);
    if (line.line === 1) {
      text = text?.replace(/^\uFEFF/u, '');
      const separator = SEPARATOR.exec(text ?? '')?.[1];
      if (separator !== undefined) this.#shape = { ...this.#shape, delimiter: separator };
      if (separator !== undefined) return;
    }
    this.#lines.push({ ...line, text });
  }

  #readHeader({ lines, values, fault }: CsvRecord): void {
    const isText = lines.every(({ text = '' }) => text.isWellFormed());
    if (!isText) throw new FilesError('bad_input', `${this.#file}: wanted UTF-8, got a first line that is not`);
    if (!values)
      throw new FilesError('bad_input', `${this.#file}: wanted the names of columns in the first line; ${fault}`);
    checkHeader(this.#file, values, this.#mapping);
    this.#shape = { ...this.#shape, width: values.length };
    this.#read = cellReader(this.#mapping, values);
  }

  #itemOf(record: CsvRecord | Pick<CsvRecord, 'lines'>): SourceItem {
    const { lines } = record;
    const [first, last] = [lines[0], lines.at(-1)] as [TextLine, TextLine];
    this.#items += 1;
    const text = lines.map((line) => `${line.text ?? ''}${line.ending}`).join('');
    const end = { items: this.#items, bytes: last.end };
    const place = { line: first.line, lastLine: last.line, end, bytes: text.length };
    if (!('fault' in record)) return place;
    this.#records += 1;
    if (first.text === undefined) return { ...place, reject: rejectOf('line_too_long') };
    if (!text.isWellFormed()) return { ...place, reject: { ...rejectOf('not_utf8'), text: text.toWellFormed() } };
    const { fault: reason, values } = record;
    if (!values) return { ...place, reject: { code: 'csv_record', reason, text } };
    const cell = this.#cellOf(values);
    return 'row_key' in cell ? { ...place, cell } : { ...place, reject: { ...cell, text } };
  }

  #cellOf(values: readonly string[]): SourceCell | Reject {
    try {
      const { body, created_at, ...address } = (this.#read as CellReader)(values, this.#records);
      return { ...parseAddress(address), body, ...(created_at !== undefined && { created_at }) };
    } catch (error) {
      if (error instanceof CsvValueError) return { code: 'csv_value', reason: error.message, field: error.field };
      if (!(error instanceof SchemalessError)) throw error;
      return { code: error.code, reason: error.message, field: error.details.field };
    }
  }
}

function checkHeader(file: string, header: readonly string[], mapping: Mapping): void {
  const meant = [...new Set(columnsOf(mapping))];
  const doubled = meant.find((column) => header.indexOf(column) !== header.lastIndexOf(column));
  if (doubled !== undefined)
    throw new FilesError('bad_mapping', `${file}: wanted one column ${doubled}, which the mapping names, got several`);
  const missing = meant.filter((column) => !header.includes(column));
  if (missing.length > 0)
    throw new FilesError(
      'bad_mapping',
      `${file}: wanted the columns ${missing.join(', ')}, which the mapping names, got ${header.join(', ')}`,
    );
}
