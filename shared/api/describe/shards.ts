import { LIMITS } from '../../cell.ts';
import { arrayOf, objectOf, schema } from '../schema.ts';
import { OF_BODY, OF_DATASTORE, type Description } from './description.ts';
import { CELL, DIGEST, SERVED } from './examples.ts';

const LOCATION = {
  ...objectOf({ shard: schema('Shard'), after: schema('AddedId'), since: schema('Time') }, ['after', 'since']),
  oneOf: [{ required: ['after'] }, { required: ['since'] }],
};

/** The routes of shards and their logs. */
export const SHARDS = {
  readShardLog: {
    bodies: true,
    summary: "Read one shard's log",
    more: 'In the order of added ids. Going on from `next` never skips a cell; `more` says whether there is one.',
    query: ['afterAddedId', 'since', 'limit', 'read', 'sealed'],
    answers: {
      200: {
        means: 'The cells after the location.',
        schema: schema('Log'),
        example: { cells: [CELL], next: 17, more: false, ...SERVED },
      },
    },
    problems: [...OF_DATASTORE, 'invalid_field', 'missing_field', 'unknown_shard', 'no_root_key', 'undecodable_body'],
  },
  digestLog: {
    summary: "Digest a shard's log",
    more: 'One value for all cells up to a place: where two are equal, so are the logs. Go on with `after` and `digest` of the answer as long as `more` says so.',
    query: ['at', 'afterDigested', 'digest', 'read'],
    answers: {
      200: {
        means: 'The digest, and the place that it is of.',
        schema: schema('ShardDigest'),
        example: { shard: 233, at: 17, digest: DIGEST, more: false, ...SERVED },
      },
    },
    problems: [...OF_DATASTORE, 'invalid_field', 'missing_field', 'unknown_shard', 'no_root_key', 'undecodable_body'],
  },
  readLog: {
    bodies: true,
    summary: 'Read the logs of many shards',
    more: `The limit is per shard, the ${LIMITS.answerBytes} bytes of the answer are shared: a cell of each, then the next of each, until it is full. \`more\` says which to ask again for.`,
    query: ['read', 'sealed'],
    request: {
      schema: objectOf(
        {
          locations: arrayOf(LOCATION, LIMITS.logCells),
          limit: { type: 'integer', minimum: 1, maximum: LIMITS.logCells, default: LIMITS.defaultLimit },
        },
        ['limit'],
      ),
      example: {
        locations: [
          { shard: 233, after: 16 },
          { shard: 17, since: '2026-01-31T08:00:00Z' },
        ],
        limit: 10,
      },
    },
    answers: {
      200: {
        means: 'The logs, in the order of the locations; an error in the place of one that could not be read.',
        schema: objectOf({ logs: arrayOf(schema('ShardLog')) }),
        example: {
          logs: [
            { shard: 233, cells: [CELL], next: 17, more: true, ...SERVED },
            { shard: 17, cells: [], next: 4, more: false, ...SERVED },
          ],
        },
      },
    },
    problems: [...OF_DATASTORE, ...OF_BODY, 'unknown_shard'],
  },
  listShards: {
    summary: 'List the shards',
    query: ['read'],
    answers: {
      200: {
        means: 'Every shard, with its group and the added id of its last cell.',
        schema: objectOf({ shards: arrayOf(schema('ShardHead')) }),
        example: { shards: [{ shard: 0, group: 'group-1', head: 17 }] },
      },
    },
    problems: [...OF_DATASTORE, 'invalid_field'],
  },
} as const satisfies Record<string, Description>;
