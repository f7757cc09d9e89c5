import { LIMITS, type Json } from '../cell.ts';
import { parseDigits } from './parameter.ts';
import { said, TEXT, type Of, type Shape } from './shape.ts';
import { ERASURE_ID, PATH_COLUMN, REF_KEY, ROW_KEY, SHARD } from './words.ts';

interface PathParameter<Value> {
  readonly shape: Shape<Value>;
  readonly example: Json;
  /** `text`: decoded. Throws `invalid_field`. */
  read(text: string, name: string): Value;
}

const asText = (text: string): string => text;

/** The parameters of paths, by their names. */
export const PATH = {
  datastore: { shape: said(TEXT, 'The name of the datastore.'), example: 'trips', read: asText },
  row_key: { shape: said(ROW_KEY, 'The row.'), example: '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0', read: ROW_KEY.read },
  column_name: {
    shape: said(PATH_COLUMN, 'The column. Names of other characters go through `batch-put` and `batch-get`.'),
    example: 'BASE',
    read: PATH_COLUMN.read,
  },
  ref_key: {
    shape: said(REF_KEY, 'The version, as digits alone.'),
    example: 1,
    read: (text, name) => parseDigits(text, name, 0, LIMITS.refKey, 'an integer from 0 to 2^53-1, as digits alone'),
  },
  shard: {
    shape: said(SHARD, 'The number of the shard.'),
    example: 233,
    read: (text, name) => parseDigits(text, name, 0, Number.MAX_SAFE_INTEGER, 'the number of a shard'),
  },
  index: { shape: said(TEXT, 'The name of the index.'), example: 'driver_partner_index', read: asText },
  trigger: { shape: said(TEXT, 'The name of the trigger.'), example: 'bill_rider', read: asText },
  erasure: {
    shape: said(ERASURE_ID, 'The id of the record.'),
    example: 'b7b0f6a4-3f5e-5a42-9c64-2f3b1d0f7a11',
    read: ERASURE_ID.read,
  },
} as const satisfies Readonly<Record<string, PathParameter<unknown>>>;

type PathName = keyof typeof PATH;
export type PathValues = { readonly [Name in PathName]: Of<(typeof PATH)[Name]['shape']> };

/** The parameters of a path, in its order. */
export function namesIn(path: string): readonly PathName[] {
  return [...path.matchAll(/\{(\w+)\}/gu)].map(([, name = '']) => {
    if (!Object.hasOwn(PATH, name)) throw new Error(`${path}: ${name} is no parameter of paths`);
    return name as PathName;
  });
}
