import { ERRORS, type ErrorCode } from '../errors.ts';
import { PROGRESS } from './index-schemas.ts';
import { objectOf, schema, SERVED, type Schema } from './schema.ts';

export const WHERE = { shard: schema('Shard'), added_id: schema('AddedId') };

/** What the members of a problem document, or of an item's error, can be beside those that always come. */
const PARTICULARS = {
  field: { type: 'string', description: 'The field or parameter at fault.', examples: ['cells[3].ref_key'] },
  wanted: { type: 'string', description: 'What would have been accepted.' },
  got: { type: 'string', description: 'What came, shortened.' },
  address: {
    ...objectOf({ row_key: schema('RowKey'), column_name: schema('ColumnName'), ref_key: schema('RefKey') }, [
      'ref_key',
    ]),
    description: 'The cell concerned; without ref_key, the latest of its column.',
  },
  outcome: { enum: ['conflict', 'erased', 'subject_forgotten', 'unavailable'], description: 'How the write ended.' },
  cell: { ...schema('Cell'), description: 'What is left of a cell that was erased.' },
  erasure: { ...schema('ErasedBy'), description: 'By which erasure, and when.' },
  why: { const: 'retention', description: 'The cell is out of its retention: erased, or hidden until it is.' },
  rule: { ...schema('RetentionRule'), description: 'The rule by which it is.' },
  group: { type: 'string', description: 'The group that could not answer.' },
  index: { type: 'string', description: 'The index that is being built.' },
  progress: { ...PROGRESS, description: 'How far its build is; null while nobody knows.' },
  ...WHERE,
  ...SERVED,
};

const CODE: Schema = {
  enum: Object.keys(ERRORS),
  description: 'Stable. See infra/docs/api.md for meaning and cure of each.',
};
const RETRY: Schema = {
  enum: ['never', 'later'],
  description: 'Whether the same request can succeed when it is repeated.',
};

/** The schemas of errors, by name. */
export const PROBLEM_SCHEMAS: Readonly<Record<string, Schema>> = {
  ErrorOfItem: objectOf(
    { code: CODE, title: { type: 'string' }, detail: { type: 'string' }, retry: RETRY, ...PARTICULARS },
    Object.keys(PARTICULARS),
  ),
  ItemError: objectOf({ error: schema('ErrorOfItem') }),
  Problem: {
    ...objectOf(
      {
        type: { type: 'string' },
        title: { type: 'string' },
        status: { type: 'integer' },
        detail: { type: 'string' },
        code: CODE,
        retry: RETRY,
        request_id: { type: 'string' },
        ...PARTICULARS,
      },
      Object.keys(PARTICULARS),
    ),
    description: 'RFC 9457, with a stable code.',
  },
  GatewayRefusal: {
    ...objectOf({ message: { type: 'string' } }),
    description: 'From the gateway itself, not from the datastore.',
  },
};
/** The problem documents with one of these codes. */
export function problemWith(codes: readonly ErrorCode[]): Schema {
  return { allOf: [schema('Problem'), { type: 'object', properties: { code: { enum: codes } } }] };
}
