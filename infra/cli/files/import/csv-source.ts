import { isUtf8 } from 'node:buffer';
import { parse, type CsvError, type Info } from 'csv-parse';
import { parseAddress } from '../../../../shared/address.ts';
import { SchemalessError } from '../../../../shared/errors.ts';
import { FilesError } from '../../../../shared/files/files-error.ts';
import { columnsOf, CsvValueError, readRecord, type CsvRecord, type Mapping } from './csv-mapping.ts';
import type { OpenBytes } from './open-bytes.ts';
import { REJECT_CODES, type CellSource, type Position, type SourceCell, type SourceItem } from './source.ts';

/** A body is 1 MiB at most; that of a record is in some of its values. */
const RECORD_BYTES = 8 * 1024 * 1024;
const SHOWN = 200;

export interface CsvOptions {
  readonly name: string;
  readonly size: number | undefined;
  readonly open: () => OpenBytes;
  readonly mapping: Mapping;
  /** @default the times of records are passed over */
  readonly areTimesKept?: boolean | undefined;
}

/** Reads cells from CSV with a header line, always from the start: no record says where it lies. */
export function csvSource({ name, size, open, mapping: wished, areTimesKept = false }: CsvOptions): CellSource {
  const mapping = areTimesKept ? wished : { ...wished, created_at: undefined };
  let opened: OpenBytes | undefined;
  return {
    name,
    size,
    bytesRead: () => opened?.bytesRead() ?? 0,
    textRead: () => opened?.textRead() ?? 0,
    async *read(from: Position) {
      opened = open();
      const records = openParser(name, mapping);
      for await (const piece of opened.stream) yield* some(await records.write(piece), from);
      yield* some(await records.end(), from);
    },
  };
}

function* some(items: readonly SourceItem[], from: Position): Iterable<readonly SourceItem[]> {
  const fresh = items.filter(({ end }) => end.items > from.items);
  if (fresh.length > 0) yield fresh;
}

interface Records {
  /** The records that are whole by then. */
  write(piece: Buffer): Promise<readonly SourceItem[]>;
  end(): Promise<readonly SourceItem[]>;
}

function openParser(file: string, mapping: Mapping): Records {
  let found: SourceItem[] = [];
  let items = 0;
  const bytes = new UnreadBytes();
  const add = (info: Info, item: Pick<SourceItem, 'bytes'> & ItemPart): void => {
    items += 1;
    found.push({ line: info.lines, end: { items, bytes: info.bytes }, ...item });
  };
  const parser = parse({
    delimiter: mapping.delimiter,
    bom: true,
    columns: (header: string[]) => {
      const isText = bytes.areText(parser.info.bytes, header.join(''));
      if (!isText) throw new FilesError('bad_input', `${file}: wanted UTF-8, got a first line that is not`);
      return checkHeader(file, header, mapping);
    },
    skip_empty_lines: true,
    skip_records_with_error: true,
    max_record_size: RECORD_BYTES,
    raw: true,
    info: true,
    // Nothing comes out at the other end: records are taken here, in one order with those that are none.
    on_record: (entry: unknown, info: Info) => {
      const { record, raw } = entry as { record: CsvRecord; raw: string };
      const part = bytes.areText(info.bytes, raw) ? cellOf(record, raw, mapping, items + 1) : notUtf8(raw);
      add(info, { bytes: raw.length, ...part });
      return null;
    },
    on_skip: (error: CsvError | undefined, raw: string | undefined) => {
      const text = (raw ?? '').slice(0, SHOWN);
      bytes.pass(parser.info.bytes);
      add(parser.info, { bytes: 0, reject: { code: 'csv_record', reason: error?.message ?? 'no CSV', text } });
    },
  });
  let failed: Error | undefined;
  parser.on('error', (error) => (failed = error));
  parser.resume();
  const settled = async (work: (done: () => void) => void): Promise<readonly SourceItem[]> => {
    // Called with an error, too, which the parser has told by then.
    await new Promise<void>((resolve) => work(resolve));
    if (failed) throw failed;
    const all = found;
    found = [];
    return all;
  };
  return {
    write: (piece) => {
      bytes.add(piece);
      return settled((done) => parser.write(piece, () => done()));
    },
    end: () => settled((done) => parser.end(() => done())),
  };
}

/** What the parser makes of bytes that are no UTF-8. */
const REPLACEMENT = '\uFFFD';
const UTF16_MARK = Buffer.from([0xff, 0xfe]);

/** Bytes of the file that are not in a record yet: the parser gives texts alone, which say nothing of what was lost. */
class UnreadBytes {
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  /** The parser reads it as such, where it begins so. */
  #isUtf16 = false;

  add(piece: Buffer): void {
    if (this.#at === 0 && this.#bytes.length === 0) this.#isUtf16 = piece.subarray(0, 2).equals(UTF16_MARK);
    this.#bytes = this.#bytes.length === 0 ? piece : Buffer.concat([this.#bytes, piece]);
  }

  /** Whether the bytes up to a place are what a text says that was made of them. They are passed over. */
  areText(end: number, text: string): boolean {
    const bytes = this.pass(end);
    return this.#isUtf16 || !text.includes(REPLACEMENT) || isUtf8(bytes);
  }

  pass(end: number): Buffer {
    const bytes = this.#bytes.subarray(0, end - this.#at);
    this.#bytes = this.#bytes.subarray(bytes.length);
    this.#at += bytes.length;
    return bytes;
  }
}

function notUtf8(raw: string): RejectPart {
  return { reject: { code: 'not_utf8', reason: REJECT_CODES.not_utf8, text: raw.slice(0, SHOWN) } };
}

type ItemPart = { readonly cell: SourceCell; readonly reject?: undefined } | RejectPart;
type RejectPart = { readonly cell?: undefined; readonly reject: NonNullable<SourceItem['reject']> };

function cellOf(record: CsvRecord, raw: string, mapping: Mapping, position: number): ItemPart {
  try {
    const { body, created_at, ...address } = readRecord(record, mapping, position);
    return { cell: { ...parseAddress(address), body, ...(created_at !== undefined && { created_at }) } };
  } catch (error) {
    const text = raw.slice(0, SHOWN);
    if (error instanceof CsvValueError)
      return { reject: { code: 'csv_value', reason: error.message, field: error.field, text } };
    if (!(error instanceof SchemalessError)) throw error;
    return { reject: { code: error.code, reason: error.message, field: error.details.field, text } };
  }
}

function checkHeader(file: string, header: readonly string[], mapping: Mapping): string[] {
  const meant = columnsOf(mapping);
  const doubled = meant.find((column) => header.indexOf(column) !== header.lastIndexOf(column));
  if (doubled !== undefined)
    throw new FilesError('bad_mapping', `${file}: wanted one column ${doubled}, which the mapping names, got several`);
  const missing = meant.filter((column) => !header.includes(column));
  if (missing.length === 0) return [...header];
  throw new FilesError(
    'bad_mapping',
    `${file}: wanted the columns ${missing.join(', ')}, which the mapping names, got ${header.join(', ')}`,
  );
}
