import { LIMITS, type Location } from '../cell.ts';
import { invalidField, missingField } from '../errors.ts';
import { CELL as CELL_SHAPE, ITEM_ERROR } from './cell-shapes.ts';
import { CELL, DIGEST as SOME_DIGEST, SERVED as BY_WRITER } from './examples.ts';
import { checked, integer, items, maybe, members } from './input.ts';
import { operations } from './operation.ts';
import { digits, textParameter } from './parameter.ts';
import { LIMIT, READ, READERS, SAFE, SEALED } from './query.ts';
import { either, FLAG, list, named, object, described, TEXT, type Input, type Of } from './shape.ts';
import { ADDED_ID, DIGEST, SERVED, SHARD, TIME } from './words.ts';

const OF_LOGS = { handler: 'read-cells', mayCall: READERS } as const;
const OF_LOG = ['missing_field', 'overloaded', 'answer_too_large'] as const;

/** The members of a log read. */
const LOG = {
  cells: list(CELL_SHAPE),
  next: described(ADDED_ID, 'The last added id read: send it as `after` to continue.'),
  more: described(
    FLAG,
    'Cells follow `next`; false only if the log was read to its end. True without cells: they did not fit into the answer, or the next cell is not visible yet.',
  ),
  ...SERVED,
};

/** The datastore checks whether the shard exists. */
const LOCATION = checked(
  members({ shard: SHARD, after: maybe(ADDED_ID), since: maybe(TIME) }),
  [members({ shard: SHARD, after: ADDED_ID }), members({ shard: SHARD, since: TIME })],
  ({ after, since }, field) => {
    if (after !== undefined && since !== undefined)
      throw invalidField(`${field}.since`, 'either `after` or `since`', 'both');
    if (after === undefined && since === undefined)
      throw missingField(`${field}.after`, 'an added id (`after`) or a time (`since`)');
  },
) as Input<Location>;

const SHARD_DIGEST = named(
  'ShardDigest',
  object({
    shard: SHARD,
    at: described(ADDED_ID, 'The last added id that the digest covers.'),
    digest: DIGEST,
    more: described(
      FLAG,
      'The requested added id lies beyond `at`: time ran out, or the node that answered does not show it yet. Send `at` as `after`, and `digest`, to continue.',
    ),
    ...SERVED,
  }),
);
export type ShardDigest = Of<typeof SHARD_DIGEST>;

export const LOG_READS = operations({
  readShardLog: {
    ...OF_LOGS,
    method: 'GET',
    path: '/v1/{datastore}/shards/{shard}/cells',
    summary: "Read one shard's log",
    more: 'In the order of added ids. Continuing from `next` never skips a cell; `more` says whether there is one.',
    query: {
      after: digits(ADDED_ID, SAFE, {
        description: 'Read the cells after this added id; 0 is the start. Either this or `since`.',
        example: 0,
      }),
      since: textParameter(TIME, {
        description: 'Read the cells written at this time or later. Either this or `after`.',
        example: '2026-01-31T08:00:00.000000Z',
      }),
      ...LIMIT,
      ...READ,
      ...SEALED,
    },
    answers: {
      200: {
        means: 'The cells after the location.',
        body: named('Log', object(LOG)),
        example: { cells: [CELL], next: 17, more: false, ...BY_WRITER },
      },
    },
    bodies: true,
    errors: [...OF_LOG, 'no_root_key'],
  },
  digestLog: {
    ...OF_LOGS,
    method: 'GET',
    path: '/v1/{datastore}/shards/{shard}/digest',
    summary: "Digest a shard's log",
    more: 'One value for all cells up to an added id: equal values mean equal logs. While `more` is true, continue with `at` of the answer as `after`, and its `digest`.',
    query: {
      at: digits(ADDED_ID, SAFE, {
        description: 'Up to this added id; to the last one if omitted.',
        example: 17,
      }),
      after: digits(ADDED_ID, SAFE, {
        description: 'Continue after this added id, whose digest is `digest`; both or neither.',
        example: 0,
      }),
      digest: textParameter(DIGEST, { description: 'The digest at `after`.', example: SOME_DIGEST }),
      ...READ,
    },
    answers: {
      200: {
        means: 'The digest, and its added id.',
        body: SHARD_DIGEST,
        example: { shard: 233, at: 17, digest: SOME_DIGEST, more: false, ...BY_WRITER },
      },
    },
    errors: [...OF_LOG, 'undecodable_body'],
  },
  readLog: {
    ...OF_LOGS,
    method: 'POST',
    path: '/v1/{datastore}/log',
    reads: true,
    summary: 'Read the logs of many shards',
    more: `The limit is per shard. The shards share the ${LIMITS.answerBytes} bytes of the answer: a cell of each, then the next of each, until it is full. \`more\` says which to read again.`,
    query: { ...READ, ...SEALED },
    body: members({ locations: items(LOCATION, LIMITS.logCells), limit: maybe(integer(1, LIMITS.listCells)) }),
    bodyExample: {
      locations: [
        { shard: 233, after: 16 },
        { shard: 17, since: '2026-01-31T08:00:00Z' },
      ],
      limit: 10,
    },
    answers: {
      200: {
        means: 'The logs, in the order of the locations; an error for each that could not be read.',
        body: object({
          logs: list(
            named('ShardLog', either(object({ shard: SHARD, ...LOG }), object({ shard: SHARD, error: ITEM_ERROR }))),
          ),
        }),
        example: {
          logs: [
            { shard: 233, cells: [CELL], next: 17, more: true, ...BY_WRITER },
            { shard: 17, cells: [], next: 4, more: false, ...BY_WRITER },
          ],
        },
      },
    },
    bodies: true,
    errors: ['unknown_shard', 'no_root_key'],
  },
  listShards: {
    ...OF_LOGS,
    method: 'GET',
    path: '/v1/{datastore}/shards',
    mayCall: [...READERS, 'movers'],
    summary: 'List the shards',
    query: READ,
    answers: {
      200: {
        means: 'Every shard, with its group and the added id of its last cell.',
        body: object({
          shards: list(
            named(
              'ShardHead',
              either(
                object({
                  shard: SHARD,
                  group: TEXT,
                  head: described(ADDED_ID, 'The added id of its last cell, 0 if it is empty.'),
                }),
                object({ shard: SHARD, group: TEXT, error: ITEM_ERROR }),
              ),
            ),
          ),
        }),
        example: { shards: [{ shard: 0, group: 'group-1', head: 17 }] },
      },
    },
  },
});
