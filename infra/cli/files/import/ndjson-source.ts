import { isUtf8 } from 'node:buffer';
import { parseAddress } from '../../../../shared/address.ts';
import { parseJson } from '../../../../shared/body/json.ts';
import { LIMITS, type Json, type TransactionPlace } from '../../../../shared/cell.ts';
import { invalidField, missingField, SchemalessError, unknownField } from '../../../../shared/errors.ts';
import { beginOfOpen } from '../../../../shared/client/transaction-runs.ts';
import { parseTime } from '../../../../shared/time.ts';
import { inUtf8, type OpenBytes } from './open-bytes.ts';
import { readLines, type Line } from './read-lines.ts';
import {
  rejectOf,
  START,
  type CellSource,
  type Position,
  type Reject,
  type SourceCell,
  type SourceItem,
} from './source.ts';

/** The most bytes of a cell as text: a body of escapes is six times as long as its characters. */
const LINE_BYTES = 6 * LIMITS.bodyBytes + 64 * 1024;
/** The byte order mark. */
const MARK = Buffer.from('\uFEFF');

/** The members of a line. Exports also write those after `body`, which imports ignore. */
const MEMBERS = [
  'row_key',
  'column_name',
  'ref_key',
  'body',
  'added_id',
  'shard',
  'created_at',
  'transaction',
  'erased',
  'body_sha256',
  'forgotten',
  'erasure',
  'error',
];

export type DefaultRefKey = number | 'line';

interface NdjsonOptions {
  readonly name: string;
  readonly size: number | undefined;
  readonly open: (byte: number) => OpenBytes;
  /** Whether `open` can begin at a byte. @default false: always at the start */
  readonly isSeekable?: boolean | undefined;
  /** @default each line needs one */
  readonly defaultRefKey?: DefaultRefKey | undefined;
  /** Whether cells keep the times of their lines, which each line then needs. @default times are ignored */
  readonly areTimesKept?: boolean | undefined;
}

/** Reads cells as lines of JSON: row_key, column_name, ref_key, body. */
export function ndjsonSource(options: NdjsonOptions): CellSource {
  const { name, size, open, isSeekable = false } = options;
  let opened: OpenBytes | undefined;
  return {
    name,
    size,
    bytesRead: () => opened?.bytesRead() ?? 0,
    textRead: () => opened?.textRead() ?? 0,
    async *read(from: Position) {
      const start = isSeekable ? from : START;
      opened = start.bytes > 0 ? open(start.bytes) : inUtf8(open(0), name);
      let items: SourceItem[] = [];
      for await (const lines of readLines(opened.stream, LINE_BYTES, start)) {
        items.push(...lines.filter(({ line }) => line > from.items).map((line) => readLine(line, options)));
        const open = beginOfOpen(items, ({ cell }) => cell?.transaction);
        if (open > 0) yield items.slice(0, open);
        items = items.slice(open);
      }
      if (items.length > 0) yield items;
    },
  };
}

function isBlank(bytes: Buffer): boolean {
  return bytes.length === 0 || (bytes.length < 1024 && bytes.toString('latin1').trim() === '');
}

function readLine(read: Line, { defaultRefKey, areTimesKept = false }: NdjsonOptions): SourceItem {
  const { line, end } = read;
  const bytes =
    line === 1 && read.bytes?.subarray(0, MARK.length).equals(MARK) ? read.bytes.subarray(MARK.length) : read.bytes;
  const position = { line, end: { items: line, bytes: end }, bytes: bytes?.length ?? 0 };
  if (bytes === undefined) return { ...position, reject: rejectOf('line_too_long') };
  if (isBlank(bytes)) return position;
  if (!isUtf8(bytes)) return { ...position, reject: rejectOf('not_utf8') };
  const refKey = defaultRefKey === 'line' ? line : defaultRefKey;
  try {
    const cell = readCell(bytes, refKey, areTimesKept);
    return 'row_key' in cell ? { ...position, cell } : { ...position, reject: cell };
  } catch (error) {
    if (!(error instanceof SchemalessError)) throw error;
    const { code, message: reason, details } = error;
    return { ...position, reject: { code, reason, field: details.field, text: bytes.toString() } };
  }
}

function readCell(bytes: Buffer, defaultRefKey: number | undefined, isTimeKept: boolean): SourceCell | Reject {
  const json = parseJson(bytes.toString(), { field: 'line', maxDepth: LIMITS.bodyDepth + 1 });
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw invalidField('line', 'an object with row_key, column_name, ref_key, body', json);
  const members = json as { readonly [member: string]: Json | undefined };
  for (const name of Object.keys(members)) if (!MEMBERS.includes(name)) throw unknownField(name, MEMBERS);
  const {
    row_key,
    column_name,
    ref_key = defaultRefKey,
    body,
    created_at,
    transaction,
    erased,
    erasure,
    error,
  } = members;
  // Checked first: the erasure of a row names no column.
  if (erasure !== undefined) return rejectOf('erasure');
  const address = parseAddress({ row_key, column_name, ref_key });
  if (erased === true) return rejectOf('erased');
  if (error !== undefined) return rejectOf('undecodable_body');
  if (body === undefined) throw missingField('body', 'the JSON of the cell');
  const cell = { ...address, body, ...(transaction !== undefined && { transaction: parsePlace(transaction) }) };
  if (!isTimeKept) return cell;
  if (created_at === undefined) throw missingField('created_at', 'when the cell was stored, as in RFC 3339');
  return { ...cell, created_at: parseTime(created_at, 'created_at') };
}

function parsePlace(given: Json): TransactionPlace {
  const { size = 0, position = 0 } = (given ?? {}) as Partial<TransactionPlace>;
  const areWhole = Number.isInteger(size) && Number.isInteger(position);
  if (areWhole && size <= LIMITS.transactionCells && position >= 0 && position < size) return { size, position };
  throw invalidField('transaction', `size, at most ${LIMITS.transactionCells}, and position, from 0`, given);
}
