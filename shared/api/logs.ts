import { LIMITS, type Location } from '../cell.ts';
import { invalidField, missingField } from '../errors.ts';
import { CELL as CELL_SHAPE, ITEM_ERROR } from './cell-shapes.ts';
import { CELL, DIGEST as SOME_DIGEST, SERVED as BY_WRITER } from './examples.ts';
import { checked, integer, items, maybe, members } from './input.ts';
import { operations } from './operation.ts';
import { digits, textParameter } from './parameter.ts';
import { LIMIT, READ, SAFE, SEALED } from './query.ts';
import { either, FLAG, list, named, object, said, TEXT, type Input } from './shape.ts';
import { ADDED_ID, DIGEST, SERVED, SHARD, TIME } from './words.ts';

const READERS = ['readers', 'clients'] as const;
const OF_SHARD = ['missing_field', 'unknown_shard', 'no_root_key', 'undecodable_body'] as const;

/** Where a log read ended. */
const LOG = {
  cells: list(CELL_SHAPE),
  next: said(ADDED_ID, 'The last added id read: send it as `after` to go on.'),
  more: said(
    FLAG,
    'The log goes on behind `next`; false only where it was read to its end. With no cells: it had no room in the answer, or its next cell is not visible yet.',
  ),
  ...SERVED,
};

/** Whether the datastore has the shard is the datastore's to say. */
const LOCATION = checked(
  members({ shard: SHARD, after: maybe(ADDED_ID), since: maybe(TIME) }),
  { oneOf: [{ required: ['after'] }, { required: ['since'] }] },
  ({ after, since }, field) => {
    if (after !== undefined && since !== undefined)
      throw invalidField(`${field}.since`, 'either `after` or `since`', 'both');
    if (after === undefined && since === undefined)
      throw missingField(`${field}.after`, 'an added id (`after`) or a time (`since`)');
  },
) as Input<Location>;

export const LOG_READS = operations({
  readShardLog: {
    method: 'GET',
    path: '/v1/{datastore}/shards/{shard}/cells',
    handler: 'read-cells',
    mayCall: READERS,
    summary: "Read one shard's log",
    more: 'In the order of added ids. Going on from `next` never skips a cell; `more` says whether there is one.',
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
    errors: OF_SHARD,
  },
  digestLog: {
    method: 'GET',
    path: '/v1/{datastore}/shards/{shard}/digest',
    handler: 'read-cells',
    mayCall: READERS,
    summary: "Digest a shard's log",
    more: 'One value for all cells up to a place: where two are equal, so are the logs. Go on with `after` and `digest` of the answer as long as `more` says so.',
    query: {
      at: digits(ADDED_ID, SAFE, {
        description: 'Up to this added id; to the last one when left out.',
        example: 17,
      }),
      after: digits(ADDED_ID, SAFE, {
        description: 'Go on after this added id, of which `digest` is; both, or none.',
        example: 0,
      }),
      digest: textParameter(DIGEST, { description: 'The digest at `after`.', example: SOME_DIGEST }),
      ...READ,
    },
    answers: {
      200: {
        means: 'The digest, and the place that it is of.',
        body: named(
          'ShardDigest',
          object({
            shard: SHARD,
            at: said(ADDED_ID, 'The place that it is of: as far as this answer came.'),
            digest: DIGEST,
            more: said(
              FLAG,
              'The place that was asked for lies beyond: there was no time, or who answered does not show it. Send `at` as `after`, and `digest`, to go on.',
            ),
            ...SERVED,
          }),
        ),
        example: { shard: 233, at: 17, digest: SOME_DIGEST, more: false, ...BY_WRITER },
      },
    },
    errors: OF_SHARD,
  },
  readLog: {
    method: 'POST',
    path: '/v1/{datastore}/log',
    handler: 'read-cells',
    mayCall: READERS,
    reads: true,
    summary: 'Read the logs of many shards',
    more: `The limit is per shard, the ${LIMITS.answerBytes} bytes of the answer are shared: a cell of each, then the next of each, until it is full. \`more\` says which to ask again for.`,
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
        means: 'The logs, in the order of the locations; an error in the place of one that could not be read.',
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
    errors: ['unknown_shard'],
  },
  listShards: {
    method: 'GET',
    path: '/v1/{datastore}/shards',
    handler: 'read-cells',
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
                  head: said(ADDED_ID, 'The added id of its last cell, 0 when it is empty.'),
                }),
                object({ shard: SHARD, group: TEXT, error: ITEM_ERROR }),
              ),
            ),
          ),
        }),
        example: { shards: [{ shard: 0, group: 'group-1', head: 17 }] },
      },
    },
    errors: [],
  },
});
