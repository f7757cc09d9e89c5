import {
  LIMITS,
  type Cell,
  type ErasedBy,
  type ErasureScope,
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
  object,
  oneOf,
  optional,
  orNull,
  said,
  shape,
  TEXT,
  type Of,
  type Shape,
} from './shape.ts';
import { ADDED_ID, BODY, COLUMN_NAME, DIGEST, ERASURE_ID, REF_KEY, ROW_KEY, SERVED, SHARD, TIME } from './words.ts';

/** Cells of answers, and errors in their places. The types of cells are those of `shared/cell.ts`. */

/** From the widest to the narrowest. */
export const SCOPE = oneOf<ErasureScope>('row', 'column', 'versions', 'cell');

const OF_RETENTION = optional(always('retention'));

const NOTE = {
  id: ERASURE_ID,
  scope: SCOPE,
  reason: TEXT,
  why: said(OF_RETENTION, 'Only there when nobody asked for it: the cells were out of their retention.'),
};

const ERASED_BY: Shape<ErasedBy> = named('ErasedBy', shaped(object({ ...NOTE, erased_at: TIME })));

export const RETENTION_RULE: Shape<ShownRetention> = named(
  'RetentionRule',
  said(
    shaped(
      object({
        column: said(TEXT, '`*`: each column that has no rule of its own.'),
        keep_versions: optional(shape<number>({ type: 'integer', minimum: 1, maximum: MOST_KEPT_VERSIONS })),
        keep_for_seconds: optional(shape<number>({ type: 'number', minimum: 1 })),
      }),
    ),
    'How long cells of a column are kept: so many versions, or so long. What either bound drops is dropped.',
  ),
);

/** How far the build of an index is. */
export const PROGRESS = orNull(
  object({ done: said(COUNT, 'Cells looked at.'), total: said(COUNT, 'Cells there are.') }),
);

export const ERROR_CODE = said(
  oneOf<ErrorCode>(...(Object.keys(ERRORS) as ErrorCode[])),
  'Stable. See infra/docs/api.md for meaning and cure of each.',
);
export const RETRY = said(oneOf<Retry>('never', 'later'), 'Whether the same request can succeed when it is repeated.');

/** What the members of a problem document, or of an item's error, can be beside those that always come. */
export const PARTICULARS = {
  field: optional(
    shape<string>({ type: 'string', description: 'The field or parameter at fault.', examples: ['cells[3].ref_key'] }),
  ),
  wanted: said(optional(TEXT), 'What would have been accepted.'),
  got: said(optional(TEXT), 'What came, shortened.'),
  address: said(
    optional(object({ row_key: ROW_KEY, column_name: COLUMN_NAME, ref_key: optional(REF_KEY) })),
    'The cell concerned; without ref_key, the latest of its column.',
  ),
  outcome: said(optional(oneOf('conflict', 'erased', 'subject_forgotten', 'unavailable')), 'How the write ended.'),
  // Cells may have errors in turn.
  cell: said(
    optional<Shape<Cell>>({ describe: (components) => CELL.describe(components) }),
    'What is left of a cell that was erased.',
  ),
  erasure: said(optional(ERASED_BY), 'By which erasure, and when.'),
  why: said(OF_RETENTION, 'The cell is out of its retention: erased, or hidden until it is.'),
  rule: said(optional(RETENTION_RULE), 'The rule by which it is.'),
  group: said(optional(TEXT), 'The group that could not answer.'),
  index: said(optional(TEXT), 'The index that is being built.'),
  progress: said(optional(PROGRESS), 'How far its build is; null while nobody knows.'),
  shard: optional(SHARD),
  added_id: optional(ADDED_ID),
  served_by: optional(SERVED.served_by),
  stale: optional(SERVED.stale),
};

/** Why one item of an answer alone could not be answered. */
export const ITEM_ERROR = named(
  'ErrorOfItem',
  object({ code: ERROR_CODE, title: TEXT, detail: TEXT, retry: RETRY, ...PARTICULARS }),
);
export type ItemError = Of<typeof ITEM_ERROR>;
export const FAILED_ITEM = named('ItemError', object({ error: ITEM_ERROR }));

const CELL_FIELDS = {
  row_key: ROW_KEY,
  column_name: COLUMN_NAME,
  ref_key: REF_KEY,
  body: BODY,
  added_id: ADDED_ID,
  shard: SHARD,
  created_at: TIME,
  erased: said(optional(always(true)), 'Only there when the body was erased: it is null then.'),
  forgotten: said(
    optional(list(TEXT)),
    'Only there when sealed fields cannot be read any more, since their subject was forgotten: their paths. They are null in `body`.',
  ),
  body_sha256: said(
    optional(DIGEST),
    'Only there when the body was erased: the SHA-256 of its JSON, for the digest of the log.',
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
          description: 'The column of the cell; empty of the erasure of a row.',
        }),
      ),
      // In lists and logs a damaged cell keeps its place; reading it alone is an error.
      error: said(optional(ITEM_ERROR), 'Only there when the stored body cannot be decoded: it is null then.'),
      erasure: said(
        optional(object(NOTE)),
        'Only in logs: this is no cell but an erasure, of the cells of its row and column up to its ref key; of a row the column name is empty.',
      ),
    }),
  ),
);

export const READ_CELL: Shape<ReadCell> = named('ReadCell', shaped(object({ ...CELL_FIELDS, ...SERVED })));

const STORED = {
  outcome: oneOf('stored', 'stored_before'),
  shard: SHARD,
  added_id: ADDED_ID,
  created_at: said(
    optional(TIME),
    'When the cell that is there was stored; only where that is known, or was asked for and could be read.',
  ),
};
const BUFFERED = {
  outcome: always('buffered'),
  shard: SHARD,
  copies: shape<number>({ type: 'integer', minimum: 1 }),
};
const ADDRESS = { row_key: ROW_KEY, column_name: COLUMN_NAME, ref_key: REF_KEY };
const { outcome: OF_STORED, ...WHERE_STORED } = STORED;
const { outcome: OF_BUFFERED, ...WHERE_BUFFERED } = BUFFERED;

export const CELL_PUT = named('CellPut', object({ outcome: OF_STORED, ...ADDRESS, ...WHERE_STORED }));
export const CELL_BUFFERED = named('CellBuffered', object({ outcome: OF_BUFFERED, ...ADDRESS, ...WHERE_BUFFERED }));

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

/** A page of cells; `next` is where it goes on. */
export function pageOf<Next>(name: string, next: Shape<Next>) {
  return named(
    name,
    object({ cells: list(CELL), next: said(orNull(next), 'Send it as `after` to go on; null at the end.'), ...SERVED }),
  );
}

/** The type of a shape as the core has it. */
function shaped<Value>(what: Shape<unknown>): Shape<Value> {
  return what as Shape<Value>;
}
