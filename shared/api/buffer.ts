import { LIMITS } from '../cell.ts';
import { invalidField } from '../errors.ts';
import { ITEM_ERROR } from './cell-shapes.ts';
import { ADDRESS, BODY as EXAMPLE_BODY } from './examples.ts';
import { input, items, members } from './input.ts';
import { operations, type Methods } from './operation.ts';
import { afterText, LIMIT } from './query.ts';
import { COUNT, either, list, named, object, orNull, said, shape, TEXT, type Of } from './shape.ts';
import { BODY, COLUMN_NAME, REF_KEY, ROW_KEY, SHARD, TIME } from './words.ts';

/** What waits in one group's buffer table for other primaries. */
const GROUP_BUFFER = named(
  'GroupBuffer',
  either(
    object({
      group: TEXT,
      rows: said(COUNT, 'A million, of this or another count: that many or more.'),
      oldest_age: shape<number | null>({
        type: ['number', 'null'],
        description: "Seconds, by the group's own clock; null when none waits.",
      }),
      parked: said(COUNT, 'Set aside after repeated failures of the row itself.'),
      conflicts: said(COUNT, 'Kept because another body is at their address.'),
      undecided: said(COUNT, 'Copies of two bodies for one address, either maybe acknowledged: an operator chooses.'),
    }),
    object({ group: TEXT, error: ITEM_ERROR }),
  ),
);
export type GroupBuffer = Of<typeof GROUP_BUFFER>;

/** A kept copy: it was answered 202 and another body has its address, or it is undecided. */
const KEPT = named(
  'BufferConflict',
  object({
    id: said(TEXT, '`group/number`: what discarding and keeping take.'),
    row_key: ROW_KEY,
    column_name: COLUMN_NAME,
    ref_key: REF_KEY,
    body: BODY,
    shard: SHARD,
    created_at: TIME,
  }),
);
export type BufferConflict = Of<typeof KEPT>;

const KEPT_EXAMPLE = {
  id: 'group-2/17',
  ...ADDRESS,
  body: EXAMPLE_BODY,
  shard: 233,
  created_at: '2026-01-31T08:00:00.123456Z',
} as const;

const idsOf = (what: string, most: number) =>
  members({
    ids: items(
      input({ type: 'string', minLength: 1 }, (given, field): string => {
        if (typeof given === 'string' && given !== '') return given;
        throw invalidField(field, what, given);
      }),
      most,
      1,
    ),
  });

const SEE = { method: 'GET', handler: 'read-cells', errors: [] } as const;
const CHANGE = { method: 'POST', handler: 'write-cells', mayCall: ['console'], errors: [] } as const;
const PAGE = { ...LIMIT, ...afterText('group-2/17', 'Go on after this id.') };

export const BUFFER_READS = operations({
  getBuffer: {
    ...SEE,
    mayCall: ['readers', 'movers'],
    path: '/v1/{datastore}/buffer',
    summary: 'See what waits in the buffer',
    answers: {
      200: {
        means: 'For each group, the writes of this datastore that it holds for other groups.',
        body: object({ groups: list(GROUP_BUFFER) }),
        example: { groups: [{ group: 'group-1', rows: 2, oldest_age: 3.5, parked: 0, conflicts: 1, undecided: 0 }] },
      },
    },
  },
  listBufferConflicts: {
    ...SEE,
    mayCall: ['readers'],
    path: '/v1/{datastore}/buffer/conflicts',
    summary: 'List the buffered writes that lost',
    more: 'Each was answered 202, and then another body turned out to be at its address.',
    query: PAGE,
    answers: {
      200: {
        means: 'The kept writes.',
        body: object({ conflicts: list(KEPT), next: orNull(TEXT) }),
        example: { conflicts: [KEPT_EXAMPLE], next: null },
      },
    },
  },
  listUndecidedWrites: {
    ...SEE,
    mayCall: ['readers'],
    path: '/v1/{datastore}/buffer/undecided',
    summary: 'List the writes of which an operator has to choose',
    more: 'A primary lost its last cells with its disk, and two bodies wait for one address that may both have been acknowledged. Their shard takes no appends, and writes to it are buffered, until one of them is kept.',
    query: PAGE,
    answers: {
      200: {
        means: 'The writes, each as often as it has copies.',
        body: object({ undecided: list(KEPT), next: orNull(TEXT) }),
        example: { undecided: [KEPT_EXAMPLE], next: null },
      },
    },
  },
});

export const BUFFER_CHANGES = operations({
  discardBufferConflicts: {
    ...CHANGE,
    path: '/v1/{datastore}/buffer/conflicts/discard',
    summary: 'Delete kept conflicts for good',
    body: idsOf('the id of a kept conflict, as GET /buffer/conflicts lists it', LIMITS.listCells),
    bodyExample: { ids: ['group-2/17'] },
    answers: {
      200: { means: 'How many there were.', body: object({ discarded: COUNT }), example: { discarded: 1 } },
    },
  },
  keepUndecidedWrites: {
    ...CHANGE,
    path: '/v1/{datastore}/buffer/undecided/keep',
    summary: 'Choose the bodies that are stored',
    more: 'Each is stored within seconds; the others at its address become kept conflicts. To be repeated where not every group could be told.',
    // Each is a statement on every group.
    body: idsOf('the id of an undecided write, as GET /buffer/undecided lists it', LIMITS.batchCells),
    bodyExample: { ids: ['group-2/17'] },
    answers: {
      200: { means: 'How many of them were undecided.', body: object({ kept: COUNT }), example: { kept: 1 } },
    },
  },
});

export type BufferOperations = Methods<typeof BUFFER_READS> & Methods<typeof BUFFER_CHANGES>;
