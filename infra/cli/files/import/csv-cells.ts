import type { Json } from '../../../../shared/cell.ts';
import { parseTime } from '../../../../shared/time.ts';
import { uuidV5 } from '../../../../shared/uuid-v5.ts';
import type { Mapping } from './csv-mapping.ts';
import { CsvValueError, valueReader, type ColumnValue } from './csv-values.ts';

interface UncheckedCell {
  readonly row_key: unknown;
  readonly column_name: unknown;
  readonly ref_key: unknown;
  readonly body: Json;
  /** UTC, six decimals, if the mapping names its column. */
  readonly created_at?: string;
}

/** Returns the cell of a record's values. Throws CsvValueError. */
export type CellReader = (values: readonly string[], record: number) => UncheckedCell;

/** Returns the reader of a file with this header, which has all columns of the mapping. */
export function cellReader(mapping: Mapping, header: readonly string[]): CellReader {
  const { row_key, column_name, ref_key, created_at } = mapping;
  const textOf = (column: string) => {
    const position = header.indexOf(column);
    return (values: readonly string[]): string => values[position] ?? '';
  };
  const jsonOf = (value: ColumnValue) => {
    const [text, read] = [textOf(value.column), valueReader(value)];
    return (values: readonly string[]): Json => read(text(values).trim());
  };
  const rowKey = 'column' in row_key ? textOf(row_key.column) : uuidOf(row_key.uuid5, textOf);
  const columnName = typeof column_name === 'string' ? () => column_name : textOf(column_name.column);
  const refKey = typeof ref_key === 'object' ? jsonOf({ ...ref_key, type: 'integer' }) : () => ref_key;
  const createdAt = created_at && jsonOf({ ...created_at, type: 'datetime' });
  const body = bodyOf(mapping, textOf);
  return (values, record) => ({
    row_key: rowKey(values, record),
    column_name: columnName(values),
    ref_key: ref_key === 'line' ? record : refKey(values),
    body: body(values),
    ...(createdAt && { created_at: parseTime(createdAt(values), 'created_at') }),
  });
}

type TextOf = (column: string) => (values: readonly string[]) => string;

/** Hashes the text of one column, or a JSON list of several: different tuples have different texts. */
function uuidOf(
  { namespace, columns, empty }: Extract<Mapping['row_key'], { readonly uuid5: unknown }>['uuid5'],
  textOf: TextOf,
): (values: readonly string[], record: number) => string {
  if (columns === 'line') return (_, record) => uuidV5(namespace, String(record));
  const read = columns.map(textOf);
  return (values) => {
    const texts = read.map((text) => text(values));
    // All records without a value would share one row.
    const missing = texts.every((text) => text === '') || empty !== 'keep' ? texts.indexOf('') : -1;
    if (missing >= 0) throw new CsvValueError(columns[missing] ?? '', 'a value, since the row key is made of it', '');
    return uuidV5(namespace, texts.length === 1 ? (texts[0] ?? '') : JSON.stringify(texts));
  };
}

function bodyOf({ body: fields, empty }: Mapping, textOf: TextOf): (values: readonly string[]) => Json {
  const members = Object.entries(fields).map(([path, value]) => ({
    steps: path.split('.'),
    text: textOf(value.column),
    read: valueReader(value),
    isText: value.type === 'string',
  }));
  return (values) => {
    const body: Record<string, Json> = {};
    for (const { steps, text, read, isText } of members) {
      const given = isText ? text(values) : text(values).trim();
      if (given !== '' || (isText && empty === 'keep')) setAt(body, steps, read(given));
      else if (empty === 'null') setAt(body, steps, null);
    }
    return body;
  };
}

function setAt(body: Record<string, Json>, steps: readonly string[], value: Json): void {
  let at = body;
  for (const step of steps.slice(0, -1)) {
    if (!Object.hasOwn(at, step)) define(at, step, {});
    at = at[step] as Record<string, Json>;
  }
  define(at, steps.at(-1) ?? '', value);
}

/** Sets a member, also one named `__proto__`. */
function define(object: Record<string, Json>, key: string, value: Json): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}
