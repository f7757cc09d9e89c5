import { LIMITS, type Json } from '../cell.ts';
import { parseDigits } from './parameter.ts';
import { described, TEXT, type Of, type Shape } from './shape.ts';
import { ERASURE_ID, PATH_COLUMN, REF_KEY, ROW_KEY, SHARD } from './words.ts';

interface PathParameter<Value> {
  readonly shape: Shape<Value>;
  readonly example: Json;
  /** `text`: decoded. Throws `invalid_field`. */
  read(text: string, name: string): Value;
}

const asText = (text: string): string => text;

/** The parameters of paths, by name. */
export const PATH = {
  datastore: { shape: described(TEXT, 'The name of the datastore.'), example: 'trips', read: asText },
  row_key: {
    shape: described(ROW_KEY, 'The row.'),
    example: '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0',
    read: ROW_KEY.read,
  },
  column_name: {
    shape: described(PATH_COLUMN, 'The column. For names with other characters use `batch-put` and `batch-get`.'),
    example: 'BASE',
    read: PATH_COLUMN.read,
  },
  ref_key: {
    shape: described(REF_KEY, 'The version, as digits alone.'),
    example: 1,
    read: (text, name) => parseDigits(text, name, 0, LIMITS.refKey, 'an integer from 0 to 2^53-1, as digits alone'),
  },
  shard: {
    shape: described(SHARD, 'The number of the shard.'),
    example: 233,
    read: (text, name) => parseDigits(text, name, 0, Number.MAX_SAFE_INTEGER, 'the number of a shard'),
  },
  index: { shape: described(TEXT, 'The name of the index.'), example: 'driver_partner_index', read: asText },
  trigger: { shape: described(TEXT, 'The name of the trigger.'), example: 'bill_rider', read: asText },
  erasure: {
    shape: described(ERASURE_ID, 'The id of the record.'),
    example: 'b7b0f6a4-3f5e-5a42-9c64-2f3b1d0f7a11',
    read: ERASURE_ID.read,
  },
} as const satisfies Readonly<Record<string, PathParameter<unknown>>>;

type PathName = keyof typeof PATH;
export type PathValues = { readonly [Name in PathName]: Of<(typeof PATH)[Name]['shape']> };

/** Returns the parameters of a path, in its order. */
export function namesIn(path: string): readonly PathName[] {
  return [...path.matchAll(/\{(\w+)\}/gu)].map(([, name = '']) => {
    if (!Object.hasOwn(PATH, name)) throw new Error(`${path}: ${name} is no parameter of paths`);
    return name as PathName;
  });
}

/** Returns the parameters of a decoded path, by name; undefined if it does not fit the template. */
export function parametersIn(template: string, path: string): Record<string, string> | undefined {
  const [parts, values] = [template.split('/'), path.split('/')];
  const fits = parts.every((part, at) => (part.startsWith('{') ? values[at] !== '' : values[at] === part));
  if (!fits || parts.length !== values.length) return undefined;
  return Object.fromEntries(
    parts.flatMap((part, at) => (part.startsWith('{') ? [[part.slice(1, -1), values[at] ?? '']] : [])),
  );
}
