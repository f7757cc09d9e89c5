import {
  isPathColumnName,
  parseColumnName,
  parseRefKey,
  parseRowKey,
  PATH_COLUMN_NAME,
  ROUTE_WORDS,
} from '../address.ts';
import { LIMITS, type Json, type Role } from '../cell.ts';
import { invalidField, missingField } from '../errors.ts';
import { parseTime } from '../time.ts';
import { input, integer, textOf } from './input.ts';
import { FLAG, named, oneOf, described, type Input } from './shape.ts';

/** The basic shapes of requests and answers. */

export const ROW_KEY = named(
  'RowKey',
  described(input({ type: 'string', format: 'uuid' }, parseRowKey), 'A UUID, in either case; returned in lower case.'),
);

const NAME = {
  type: 'string',
  minLength: 1,
  maxLength: LIMITS.columnNameBytes,
  pattern: '^[^\\u0000\\u0001]',
} as const;
export const COLUMN_NAME = named(
  'ColumnName',
  described(input(NAME, parseColumnName), `1 to ${LIMITS.columnNameBytes} bytes of UTF-8, compared byte for byte.`),
);

/** A column name that a path can hold. */
export const PATH_COLUMN: Input<string> = input({ type: 'string', pattern: PATH_COLUMN_NAME }, (given, field) => {
  const name = parseColumnName(given, field);
  if (isPathColumnName(name)) return name;
  throw invalidField(
    field,
    `A-Z a-z 0-9 _ - space . in a path, and none of ".", "..", ${ROUTE_WORDS.join(', ')}; batch-put and batch-get take any name`,
    name,
  );
});

export const REF_KEY = named(
  'RefKey',
  described(
    input({ type: 'integer', minimum: 0, maximum: LIMITS.refKey }, parseRefKey),
    'The version of the cell, or its position in a list. The latest cell has the highest.',
  ),
);

/** The members of a cell's address. */
export const ADDRESS_MEMBERS = { row_key: ROW_KEY, column_name: COLUMN_NAME, ref_key: REF_KEY };

/** Every type is listed, since some generators exclude null where there is none; not `Body`, which others declare. */
export const BODY = named(
  'CellBody',
  input<Json>(
    {
      type: ['object', 'array', 'string', 'number', 'boolean', 'null'],
      additionalProperties: true,
      items: {},
      description: `Any JSON, up to ${LIMITS.bodyBytes} bytes and ${LIMITS.bodyDepth} levels deep. Integers from -2^63 to 2^64-1 are kept.`,
    },
    (given, field) => {
      if (given === undefined) throw missingField(field, 'the JSON of the cell');
      return given as Json;
    },
  ),
);

export const ADDED_ID = named(
  'AddedId',
  described(
    integer(0, Number.MAX_SAFE_INTEGER, 'an added id, 0 to 2^53-1'),
    "The number of a cell in its shard's log: 1, 2, 3, … without holes, in commit order; 0 is the log's start.",
  ),
);

export const SHARD = named('Shard', integer(0, Number.MAX_SAFE_INTEGER, 'the number of a shard'));

export const TIME = named(
  'Time',
  described(
    input({ type: 'string', format: 'date-time' }, parseTime),
    'RFC 3339 with zone; returned in UTC with six decimals.',
  ),
);

export const DIGEST = named(
  'Digest',
  described(textOf('^[0-9a-f]{64}$', '64 digits of 0-9 a-f'), 'SHA-256 of a log, in hexadecimal.'),
);

export const GROUP_NAME = named(
  'GroupName',
  described(
    textOf('^[\\w.-]{1,64}$', 'the name of a group, such as group-2'),
    'The name of a group, as in the list of shards.',
  ),
);

export const ERASURE_ID = named(
  'ErasureId',
  described(
    input(
      { type: 'string', format: 'uuid', pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' },
      textOf('^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', 'the id of an erasure').read,
    ),
    'Always the same for the same target.',
  ),
);

/** The most characters of a reason. */
const REASON_LENGTH = 500;
const WANTED_REASON = `why, in 1 to ${REASON_LENGTH} characters`;

export const REASON = described(
  input({ type: 'string', maxLength: REASON_LENGTH, pattern: '\\S' }, (given, field): string => {
    if (given === undefined) throw missingField(field, WANTED_REASON);
    if (typeof given !== 'string' || given.trim() === '' || given.length > REASON_LENGTH || !given.isWellFormed())
      throw invalidField(field, WANTED_REASON, given);
    return given;
  }),
  'Kept for good, and shown to readers of the row: include nothing that must be forgotten.',
);

const WANTED_NOTE = `text of 1 to ${REASON_LENGTH} characters`;

/** A reason that operators see while it applies. */
export const NOTE = input({ type: 'string', minLength: 1, maxLength: REASON_LENGTH }, (given, field): string => {
  if (typeof given !== 'string' || given.length === 0 || given.length > REASON_LENGTH)
    throw invalidField(field, WANTED_NOTE, given);
  return given;
});

/** The members with which each read names the node that answered. */
export const SERVED = {
  served_by: described(oneOf<Role>('writer', 'reader'), 'Which node of the group answered.'),
  stale: described(FLAG, 'The answer may be behind the acknowledged writes.'),
};
