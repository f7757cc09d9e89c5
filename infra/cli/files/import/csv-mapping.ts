import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { FilesError, listed } from '../../../../shared/files/files-error.ts';

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
