import { LIMITS } from '../../cell.ts';
import { arrayOf, objectOf, orNull, schema } from '../schema.ts';
import { ANY, OF_BODY, OF_DATASTORE, type Description } from './description.ts';
import { ADDRESS, BODY } from './examples.ts';

const UP = { state: 'up', served_by: 'writer', milliseconds: 1, circuit: 'closed' } as const;
const DOWN = {
  state: 'down',
  served_by: 'reader',
  milliseconds: 1000,
  circuit: 'open',
  error: 'connect timeout',
} as const;

/** The routes of those who run the datastore. */
export const SERVICE = {
  getBuffer: {
    summary: 'See what waits in the buffer',
    answers: {
      200: {
        means: 'For each group, the writes of this datastore that it holds for other groups.',
        schema: objectOf({ groups: arrayOf(schema('GroupBuffer')) }),
        example: { groups: [{ group: 'group-1', rows: 2, oldest_age: 3.5, parked: 0, conflicts: 1, undecided: 0 }] },
      },
    },
    problems: OF_DATASTORE,
  },
  listBufferConflicts: {
    summary: 'List the buffered writes that lost',
    more: 'Each was answered 202, and then another body turned out to be at its address.',
    query: ['limit', 'afterConflict'],
    answers: {
      200: {
        means: 'The kept writes.',
        schema: objectOf({ conflicts: arrayOf(schema('BufferConflict')), next: orNull({ type: 'string' }) }),
        example: {
          conflicts: [
            { id: 'group-2/17', ...ADDRESS, body: BODY, shard: 233, created_at: '2026-01-31T08:00:00.123456Z' },
          ],
          next: null,
        },
      },
    },
    problems: [...OF_DATASTORE, 'invalid_field'],
  },
  discardBufferConflicts: {
    summary: 'Delete kept conflicts for good',
    request: {
      schema: objectOf({ ids: arrayOf({ type: 'string', minLength: 1 }, LIMITS.listCells) }),
      example: { ids: ['group-2/17'] },
    },
    answers: {
      200: {
        means: 'How many there were.',
        schema: objectOf({ discarded: { type: 'integer', minimum: 0 } }),
        example: { discarded: 1 },
      },
    },
    problems: [...OF_DATASTORE, ...OF_BODY],
  },
  listUndecidedWrites: {
    summary: 'List the writes of which an operator has to choose',
    more: 'A primary lost its last cells with its disk, and two bodies wait for one address that may both have been acknowledged. Their shard takes no appends, and writes to it are buffered, until one of them is kept.',
    query: ['limit', 'afterConflict'],
    answers: {
      200: {
        means: 'The writes, each as often as it has copies.',
        schema: objectOf({ undecided: arrayOf(schema('BufferConflict')), next: orNull({ type: 'string' }) }),
        example: {
          undecided: [
            { id: 'group-2/17', ...ADDRESS, body: BODY, shard: 233, created_at: '2026-01-31T08:00:00.123456Z' },
          ],
          next: null,
        },
      },
    },
    problems: [...OF_DATASTORE, 'invalid_field'],
  },
  keepUndecidedWrites: {
    summary: 'Choose the bodies that are stored',
    more: 'Each is stored within seconds; the others at its address become kept conflicts. To be repeated where not every group could be told.',
    request: {
      schema: objectOf({ ids: arrayOf({ type: 'string', minLength: 1 }, LIMITS.batchCells) }),
      example: { ids: ['group-2/17'] },
    },
    answers: {
      200: {
        means: 'How many of them were undecided.',
        schema: objectOf({ kept: { type: 'integer', minimum: 0 } }),
        example: { kept: 1 },
      },
    },
    problems: [...OF_DATASTORE, ...OF_BODY],
  },
  getHealth: {
    summary: 'See which nodes answer',
    answers: {
      200: {
        means: 'At least one node answers.',
        schema: schema('Health'),
        example: {
          status: 'degraded',
          version: '0.1.0',
          instance: 'b7c9',
          groups: [{ group: 'group-1', writer: DOWN, reader: UP }],
        },
      },
      503: {
        means: 'No node answers.',
        schema: schema('Health'),
        example: {
          status: 'down',
          version: '0.1.0',
          instance: 'b7c9',
          groups: [{ group: 'group-1', writer: DOWN, reader: DOWN }],
        },
      },
    },
    problems: [...ANY, 'unavailable'],
  },
  getOpenApi: {
    summary: 'This document',
    more: 'Compressed where `accept-encoding` names `gzip`.',
    answers: { 200: { means: 'OpenAPI 3.1.', schema: { type: 'object' }, example: { openapi: '3.1.0' } } },
    problems: ANY,
  },
} as const satisfies Record<string, Description>;
