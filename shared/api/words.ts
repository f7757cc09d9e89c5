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
import { FLAG, named, oneOf, said, type Input } from './shape.ts';

/** The words that requests and answers are made of. */

export const ROW_KEY = named(
  'RowKey',
  said(input({ type: 'string', format: 'uuid' }, parseRowKey), 'A UUID, in either case; answered in lower case.'),
);

const NAME = { type: 'string', minLength: 1, maxLength: LIMITS.columnNameBytes } as const;
export const COLUMN_NAME = named(
  'ColumnName',
  said(input(NAME, parseColumnName), `1 to ${LIMITS.columnNameBytes} bytes of UTF-8, compared byte for byte.`),
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
  said(
    input({ type: 'integer', minimum: 0, maximum: LIMITS.refKey }, parseRefKey),
    'The version of the cell, or its place in a list. The latest cell has the highest.',
  ),
);

export const BODY = named(
  'Body',
  input<Json>(
    {
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
  said(
    integer(0, Number.MAX_SAFE_INTEGER, 'an added id, 0 to 2^53-1'),
    "A place in a shard's log: 1, 2, 3, … without holes, in commit order; 0 is the log's start.",
  ),
);

export const SHARD = named('Shard', integer(0, Number.MAX_SAFE_INTEGER, 'the number of a shard'));

export const TIME = named(
  'Time',
  said(
    input({ type: 'string', format: 'date-time' }, parseTime),
    'RFC 3339 with zone; answered in UTC with six decimals.',
  ),
);

export const DIGEST = named(
  'Digest',
  said(textOf('^[0-9a-f]{64}$', '64 digits of 0-9 a-f'), 'SHA-256 of a log, in hexadecimal.'),
);

export const GROUP_NAME = named(
  'GroupName',
  said(
    textOf('^[\\w.-]{1,64}$', 'the name of a group, such as group-2'),
    'The name of a group, as the list of the shards has it.',
  ),
);

export const ERASURE_ID = named(
  'ErasureId',
  said(
    input(
      { type: 'string', format: 'uuid', pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' },
      textOf('^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', 'the id of an erasure').read,
    ),
    'The same for the same target, whenever it is asked for.',
  ),
);

/** The most characters of a reason. */
const REASON_LENGTH = 500;
const WANTED_REASON = `why, in 1 to ${REASON_LENGTH} characters`;

export const REASON = said(
  input({ type: 'string', maxLength: REASON_LENGTH, pattern: '\\S' }, (given, field): string => {
    if (given === undefined) throw missingField(field, WANTED_REASON);
    if (typeof given !== 'string' || given.trim() === '' || given.length > REASON_LENGTH || !given.isWellFormed())
      throw invalidField(field, WANTED_REASON, given);
    return given;
  }),
  'Kept for good, and shown to who reads the row: nothing that is itself to be forgotten.',
);

const WANTED_NOTE = `text of 1 to ${REASON_LENGTH} characters`;

/** A reason that others are shown for now. */
export const NOTE = input({ type: 'string', minLength: 1, maxLength: REASON_LENGTH }, (given, field): string => {
  if (typeof given !== 'string' || given.length === 0 || given.length > REASON_LENGTH)
    throw invalidField(field, WANTED_NOTE, given);
  return given;
});

/** By which each read says who answered. */
export const SERVED = {
  served_by: said(oneOf<Role>('writer', 'reader'), 'Which node of the group answered.'),
  stale: said(FLAG, 'The answer may be behind what has been acknowledged.'),
};
