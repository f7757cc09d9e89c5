import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { FilesError, listed } from '../../../../shared/files/files-error.ts';
import { timeReader } from './csv-times.ts';
import { VALUE_TYPES, type ColumnValue } from './csv-values.ts';

const UUID = z.uuid({ error: 'wanted a UUID' });
const column = z.string().min(1);
const fromColumn = z.strictObject({ column });
const delimiter = z.string().regex(/^[^"\r\n\u{10000}-\u{10FFFF}]$/u, {
  error: 'wanted one character up to U+FFFF that is no quote and no line end',
});
const time = {
  zone: z.string().optional(),
  format: z.string().optional(),
};
const value = z.preprocess(
  (value) => (typeof value === 'string' ? { column: value } : value),
  z
    .strictObject(
      {
        column,
        type: z.enum(VALUE_TYPES, { error: `wanted one of ${VALUE_TYPES.join(', ')}` }).default('string'),
        decimal: z.enum(['.', ',']).optional(),
        thousands: z.enum([',', '.', ' ', "'"]).optional(),
        ...time,
      },
      { error: "wanted a column's name, or { column: NAME, type: T }, with decimal, thousands, zone, format" },
    )
    .superRefine(checkSpelling),
);
const timeOfColumn = z.strictObject({ column, ...time }).superRefine(checkSpelling);
const columns = z.union([z.literal('line'), z.array(column).min(1)], { error: 'wanted a list of columns, or line' });
const uuid5 = z.strictObject({ namespace: UUID, columns, empty: z.literal('keep').optional() });

const mappingSchema = z.strictObject({
  row_key: z.union([fromColumn, z.strictObject({ uuid5 })], {
    error: 'wanted { column: NAME }, or { uuid5: { namespace: UUID, columns: [NAME, …] or line } }',
  }),
  column_name: z.union([z.string().min(1), fromColumn], { error: 'wanted a text, or { column: NAME }' }),
  ref_key: z.union([z.literal('line'), z.int().nonnegative(), fromColumn], {
    error: 'wanted a whole number, line, or { column: NAME }',
  }),
  /** The time at which it was stored, for imports that keep times. */
  created_at: timeOfColumn.optional(),
  body: z.record(z.string().min(1), value),
  delimiter: delimiter.default(','),
  empty: z.enum(['omit', 'null', 'keep']).default('omit'),
});

export type Mapping = z.infer<typeof mappingSchema>;

export function columnsOf({ row_key, column_name, ref_key, created_at, body }: Mapping): readonly string[] {
  return [
    ...('column' in row_key ? [row_key.column] : row_key.uuid5.columns === 'line' ? [] : row_key.uuid5.columns),
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

/** Adds the fault of a value's options. */
function checkSpelling(value: Omit<ColumnValue, 'type'> & Partial<ColumnValue>, context: z.RefinementCtx): void {
  const { type = 'datetime', decimal, thousands, zone, format } = value;
  const fault = (): string | undefined => {
    if ((decimal ?? thousands) !== undefined && type !== 'number' && type !== 'integer')
      return `wanted decimal and thousands for numbers only, got them for type ${type}`;
    if ((decimal ?? '.') === thousands) return `wanted thousands other than decimal, got ${thousands} for both`;
    if ((zone ?? format) === undefined) return undefined;
    if (type !== 'datetime') return `wanted zone and format for datetime only, got them for type ${type}`;
    try {
      timeReader(value);
      return undefined;
    } catch (error) {
      return error instanceof RangeError ? error.message : String(error);
    }
  };
  const message = fault();
  if (message !== undefined) context.addIssue({ code: 'custom', message });
}
