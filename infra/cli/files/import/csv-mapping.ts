import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseRowKey } from '../../../../shared/address.ts';
import { parseJson } from '../../../../shared/body/json.ts';
import { readNumber } from '../../../../shared/body/number.ts';
import type { Json } from '../../../../shared/cell.ts';
import { FilesError, listed } from '../../../../shared/files/files-error.ts';
import { parseTime } from '../../../../shared/time.ts';
import { uuidV5 } from '../../../../shared/uuid-v5.ts';

/** What a value of CSV becomes in a body. `datetime` and `UUID` stay texts, and are checked. */
export const VALUE_TYPES = ['string', 'integer', 'number', 'boolean', 'datetime', 'UUID', 'json'] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

const UUID = z.uuid({ error: 'wanted a UUID' });
const column = z.string().min(1);
const fromColumn = z.strictObject({ column });
const value = z.union(
  [
    column.transform((name) => ({ column: name, type: 'string' as const })),
    z.strictObject({ column, type: z.enum(VALUE_TYPES).default('string') }),
  ],
  { error: `wanted a column's name, or { column: NAME, type: T } with T one of ${VALUE_TYPES.join(', ')}` },
);

const mappingSchema = z.strictObject({
  row_key: z.union([
    fromColumn,
    z.strictObject({ uuid5: z.strictObject({ namespace: UUID, columns: z.array(column).min(1) }) }),
  ]),
  column_name: z.union([z.string().min(1), fromColumn]),
  ref_key: z.union([z.literal('line'), z.int().nonnegative(), fromColumn]),
  /** When it was stored, for imports that keep times. */
  created_at: fromColumn.optional(),
  body: z.record(z.string().min(1), value),
  delimiter: z.string().length(1).default(','),
  empty: z.enum(['omit', 'null', 'keep']).default('omit'),
});

export type Mapping = z.infer<typeof mappingSchema>;

export function columnsOf({ row_key, column_name, ref_key, created_at, body }: Mapping): readonly string[] {
  return [
    ...('column' in row_key ? [row_key.column] : row_key.uuid5.columns),
    ...(typeof column_name === 'object' ? [column_name.column] : []),
    ...(typeof ref_key === 'object' ? [ref_key.column] : []),
    ...(created_at ? [created_at.column] : []),
    ...Object.values(body).map((one) => one.column),
  ];
}

/** Reads a mapping file. Throws `bad_mapping` with every problem at once. */
export function readMapping(path: string): Mapping {
  let json: unknown;
  try {
    json = parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new FilesError('bad_mapping', `${path}: wanted a file of YAML: ${String(cause)}`, { cause });
  }
  const { data, error } = mappingSchema.safeParse(json);
  if (error) {
    const faults = error.issues.map((issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`);
    throw new FilesError('bad_mapping', `${path}: ${listed(faults)}`);
  }
  const clash = clashOf(Object.keys(data.body));
  if (clash) throw new FilesError('bad_mapping', `${path}: body: wanted a value or members at ${clash}, got both`);
  return data;
}

function clashOf(paths: readonly string[]): string | undefined {
  return paths.find((path) => paths.some((other) => other.startsWith(`${path}.`)));
}

export type CsvRecord = Readonly<Record<string, string>>;

export class CsvValueError extends Error {
  readonly field: string;

  constructor(field: string, wanted: string, got: string) {
    super(`${field}: wanted ${wanted}, got ${JSON.stringify(got.slice(0, 60))}`);
    this.field = field;
  }
}

interface UncheckedCell {
  readonly row_key: unknown;
  readonly column_name: unknown;
  readonly ref_key: unknown;
  readonly body: Json;
  /** UTC, six decimals; where the mapping names its column. */
  readonly created_at?: string;
}

/** Returns the cell of a record. `position`, from 1, is its ref key if the mapping says `line`. */
export function readRecord(record: CsvRecord, mapping: Mapping, position: number): UncheckedCell {
  const { row_key, column_name, ref_key, created_at } = mapping;
  const text = (column: string): string => record[column] ?? '';
  return {
    row_key: 'column' in row_key ? text(row_key.column) : uuidOf(row_key.uuid5, text),
    column_name: typeof column_name === 'string' ? column_name : text(column_name.column),
    ref_key:
      typeof ref_key === 'object'
        ? toValue(text(ref_key.column), 'integer', ref_key.column)
        : ref_key === 'line'
          ? position
          : ref_key,
    body: bodyOf(record, mapping),
    ...(created_at && { created_at: toTime(text(created_at.column), created_at.column) }),
  };
}

/** Of one column its text, of several a JSON list of theirs: no two tuples give the same. */
function uuidOf(
  { namespace, columns }: { readonly namespace: string; readonly columns: readonly string[] },
  text: (column: string) => string,
): string {
  const texts = columns.map((column) => {
    const value = text(column);
    // All rows without it would be one.
    if (value === '') throw new CsvValueError(column, 'a value, since the row key is made of it', value);
    return value;
  });
  return uuidV5(namespace, texts.length === 1 ? (texts[0] ?? '') : JSON.stringify(texts));
}

function bodyOf(record: CsvRecord, { body: fields, empty }: Mapping): Json {
  const body: Record<string, Json> = {};
  for (const [path, { column, type }] of Object.entries(fields)) {
    const text = record[column] ?? '';
    if (text === '' && (empty !== 'keep' || type !== 'string')) {
      if (empty === 'null') setAt(body, path, null);
      continue;
    }
    setAt(body, path, toValue(text, type, column));
  }
  return body;
}

function setAt(body: Record<string, Json>, path: string, value: Json): void {
  const steps = path.split('.');
  const last = steps.pop() ?? '';
  let at = body;
  for (const step of steps) {
    const next = Object.hasOwn(at, step) ? at[step] : undefined;
    if (next === undefined) define(at, step, {});
    at = at[step] as Record<string, Json>;
  }
  define(at, last, value);
}

/** `__proto__` is a name like any other. */
function define(object: Record<string, Json>, key: string, value: Json): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

const INTEGER = /^-?\d{1,20}$/u;
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/u;
const YES: readonly string[] = ['true', 't', 'yes', 'y', '1'];
const NO: readonly string[] = ['false', 'f', 'no', 'n', '0'];

function toValue(text: string, type: ValueType, column: string): Json {
  switch (type) {
    case 'string':
      return text;
    case 'integer':
      return (INTEGER.test(text) ? numberOf(text) : undefined) ?? refuse(column, 'an integer of 64 bits', text);
    case 'number':
      return (NUMBER.test(text) ? numberOf(text) : undefined) ?? refuse(column, 'a number that 64 bits keep', text);
    case 'boolean':
      if (YES.includes(text.toLowerCase())) return true;
      return NO.includes(text.toLowerCase()) ? false : refuse(column, 'true, t, yes, y, 1, false, f, no, n or 0', text);
    case 'datetime':
      return (toTime(text, column), text);
    case 'UUID':
      return checked(() => parseRowKey(text, column), column, 'a UUID', text);
    case 'json':
      return checked(() => parseJson(text, { field: column }), column, 'JSON', text);
    default:
      return type satisfies never;
  }
}

/** As JSON has it, which knows no leading zeros. */
function numberOf(text: string): number | bigint | undefined {
  return readNumber(text.replace(/^(-?)0+(?=\d)/u, '$1'));
}

function toTime(text: string, column: string): string {
  return checked(() => parseTime(text, column), column, 'a time as in RFC 3339, with its zone', text);
}

function checked<Value>(read: () => Value, column: string, wanted: string, text: string): Value {
  try {
    return read();
  } catch {
    return refuse(column, wanted, text);
  }
}

function refuse(column: string, wanted: string, got: string): never {
  throw new CsvValueError(column, wanted, got);
}
