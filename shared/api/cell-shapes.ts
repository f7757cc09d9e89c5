import {
  LIMITS,
  type Cell,
  type ErasedBy,
  type ErasureScope,
  type FailedCondition,
  type PutResult,
  type ReadCell,
  type ShownRetention,
} from '../cell.ts';
import { MOST_KEPT_VERSIONS } from '../definitions/definitions.ts';
import { ERRORS, type ErrorCode, type Retry } from '../errors.ts';
import {
  always,
  COUNT,
  either,
  list,
  named,
  nextOf,
  object,
  oneOf,
  optional,
  orNull,
  described,
  shape,
  TEXT,
  type Of,
  type Shape,
} from './shape.ts';
import {
  ADDED_ID,
  ADDRESS_MEMBERS,
  BODY,
  COLUMN_NAME,
  DIGEST,
  ERASURE_ID,
  REF_KEY,
  SERVED,
  SHARD,
  TIME,
} from './words.ts';

/** Cells of answers, and errors in their places. The types of cells are those of `shared/cell.ts`. */

/** From the widest to the narrowest. */
export const SCOPE = oneOf<ErasureScope>('row', 'column', 'versions', 'cell');

const OF_RETENTION = optional(always('retention'));

const NOTE = {
  id: ERASURE_ID,
  scope: SCOPE,
  reason: TEXT,
  why: described(OF_RETENTION, 'Present if a retention rule, not a request, erased the cells.'),
};

const ERASED_BY: Shape<ErasedBy> = named('ErasedBy', shaped(object({ ...NOTE, erased_at: TIME })));

export const RETENTION_RULE: Shape<ShownRetention> = named(
  'RetentionRule',
  described(
    shaped(
      object({
        column: described(TEXT, '`*`: each column without its own rule.'),
        keep_versions: optional(shape<number>({ type: 'integer', minimum: 1, maximum: MOST_KEPT_VERSIONS })),
        keep_for_seconds: optional(shape<number>({ type: 'number', minimum: 1 })),
      }),
    ),
    'How long cells of a column are kept: by version, by age, or both. Cells beyond either bound are dropped.',
  ),
);

/** The progress of an index build. */
export const PROGRESS = orNull(
  object({ done: described(COUNT, 'Cells read so far.'), total: described(COUNT, 'Cells in all.') }),
);

export const ERROR_CODE = described(
  oneOf<ErrorCode>(...(Object.keys(ERRORS) as ErrorCode[])),
  'Stable. infra/docs/api.md lists the meaning and fix of each.',
);
export const RETRY = described(
  oneOf<Retry>('never', 'later'),
  '`later`: the same request may succeed if it is repeated.',
);

/** The optional members of a problem document, and of an item's error. */
export const PARTICULARS = {
  field: optional(
    shape<string>({ type: 'string', description: 'The invalid field or parameter.', examples: ['cells[3].ref_key'] }),
  ),
  wanted: described(optional(TEXT), 'The accepted values.'),
  got: described(optional(TEXT), 'The value received, shortened.'),
  address: described(
    optional(object({ ...ADDRESS_MEMBERS, ref_key: optional(REF_KEY) })),
    'The cell concerned; without ref_key, the latest of its column.',
  ),
  outcome: described(
    optional(oneOf('conflict', 'condition_failed', 'erased', 'subject_forgotten', 'unavailable')),
    'How the write ended.',
  ),
  cells: described(
    optional(list(object({ column_name: COLUMN_NAME, ref_key: REF_KEY }))),
    'Of a transaction: the addresses that hold another body, or were erased.',
  ),
  failed: described(
    optional(list<FailedCondition>({ describe: (components) => FAILED_CONDITION.describe(components) })),
    'Of a transaction: the conditions that did not hold, with the latest cell of each column.',
  ),
  // Cells may have errors in turn.
  cell: described(
    optional<Shape<Cell>>({ describe: (components) => CELL.describe(components) }),
    'The erased cell, without its body.',
  ),
  erasure: described(optional(ERASED_BY), 'The erasure, and its time.'),
  why: described(OF_RETENTION, 'A retention rule applies: the cell is erased, or hidden until it is.'),
  rule: described(optional(RETENTION_RULE), 'The retention rule that applies.'),
  group: described(optional(TEXT), 'The group that could not answer.'),
  index: described(optional(TEXT), 'The index that is being built.'),
  progress: described(optional(PROGRESS), 'The progress of its build; null while unknown.'),
  shard: optional(SHARD),
  added_id: optional(ADDED_ID),
  served_by: optional(SERVED.served_by),
  stale: optional(SERVED.stale),
};

/** The error of one item of an answer. */
export const ITEM_ERROR = named(
  'ErrorOfItem',
  object({ code: ERROR_CODE, title: TEXT, detail: TEXT, retry: RETRY, ...PARTICULARS }),
);
export type ItemError = Of<typeof ITEM_ERROR>;
export const FAILED_ITEM = named('ItemError', object({ error: ITEM_ERROR }));

export const OF_TRANSACTION = described(
  optional(
    object({
      size: shape<number>({ type: 'integer', minimum: 1 }),
      position: shape<number>({ type: 'integer', minimum: 0 }),
    }),
  ),
  'Present if a transaction wrote it: how many cells it appended, consecutive in the log, and which of them this is.',
);

const CELL_FIELDS = {
  ...ADDRESS_MEMBERS,
  body: BODY,
  added_id: ADDED_ID,
  shard: SHARD,
  created_at: TIME,
  erased: described(optional(always(true)), 'Present if the body was erased; `body` is null.'),
  forgotten: described(
    optional(list(TEXT)),
    'Present if sealed fields are unreadable because their subject was forgotten: their paths. They are null in `body`.',
  ),
  transaction: OF_TRANSACTION,
  body_sha256: described(
    optional(DIGEST),
    'Present if the body was erased: the SHA-256 of its JSON, for the digest of the log.',
  ),
};

export const CELL: Shape<Cell> = named(
  'Cell',
  shaped(
    object({
      ...CELL_FIELDS,
      column_name: named(
        'LoggedColumn',
        shape<string>({
          type: 'string',
          maxLength: LIMITS.columnNameBytes,
          description: 'The column of the cell; empty for the erasure of a row.',
        }),
      ),
      // In lists and logs a damaged cell keeps its place; reading it alone is an error.
      error: described(optional(ITEM_ERROR), 'Present if the stored body cannot be decoded; `body` is null.'),
      erasure: described(
        optional(object(NOTE)),
        'Only in logs: an erasure of the cells of its row and column up to its ref key, or, with an empty column name, of the row.',
      ),
    }),
  ),
);

const FAILED_CONDITION: Shape<FailedCondition> = named(
  'FailedCondition',
  shaped(object({ column_name: COLUMN_NAME, wanted: orNull(REF_KEY), latest: orNull(CELL) })),
);

export const READ_CELL: Shape<ReadCell> = named('ReadCell', shaped(object({ ...CELL_FIELDS, ...SERVED })));

const STORED = {
  outcome: oneOf('stored', 'stored_before'),
  shard: SHARD,
  added_id: ADDED_ID,
  created_at: described(
    optional(TIME),
    'When the existing cell was stored; present if known, or if requested and readable.',
  ),
};
const BUFFERED = {
  outcome: always('buffered'),
  shard: SHARD,
  copies: shape<number>({ type: 'integer', minimum: 1 }),
};
const { outcome: OF_STORED, ...WHERE_STORED } = STORED;
const { outcome: OF_BUFFERED, ...WHERE_BUFFERED } = BUFFERED;

export const CELL_PUT = named('CellPut', object({ outcome: OF_STORED, ...ADDRESS_MEMBERS, ...WHERE_STORED }));
export const CELL_BUFFERED = named(
  'CellBuffered',
  object({ outcome: OF_BUFFERED, ...ADDRESS_MEMBERS, ...WHERE_BUFFERED }),
);

export const PUT_RESULT: Shape<PutResult> = named(
  'PutResult',
  shaped(
    either(
      object(STORED),
      object({ outcome: always('conflict'), shard: SHARD, added_id: ADDED_ID }),
      object({ outcome: always('erased'), shard: SHARD }),
      object({ outcome: always('subject_forgotten'), shard: SHARD, field: TEXT }),
      object(BUFFERED),
      object({ outcome: always('unavailable'), shard: SHARD, reason: TEXT }),
    ),
  ),
);

/** Declares a page of cells; `next` continues it. */
export function pageOf<Next>(name: string, next: Shape<Next>) {
  return named(name, object({ cells: list(CELL), next: nextOf(next), ...SERVED }));
}

/** Gives a shape the type that the core uses. */
function shaped<Value>(what: Shape<unknown>): Shape<Value> {
  return what as Shape<Value>;
}
