import { LIMITS } from '../cell.ts';
import { invalidField } from '../errors.ts';
import { ITEM_ERROR, OF_TRANSACTION } from './cell-shapes.ts';
import { ADDRESS, BODY as EXAMPLE_BODY } from './examples.ts';
import { input, items, members } from './input.ts';
import { operations, type Methods } from './operation.ts';
import { afterText, LIMIT } from './query.ts';
import { COUNT, either, list, named, object, orNull, described, shape, TEXT, type Of } from './shape.ts';
import { ADDRESS_MEMBERS, BODY, SHARD, TIME } from './words.ts';

/** The hints in one group's buffer table for other primaries. */
const GROUP_BUFFER = named(
  'GroupBuffer',
  either(
    object({
      group: TEXT,
      rows: described(COUNT, 'Every count stops at a million, which means that many or more.'),
      oldest_age: shape<number | null>({
        type: ['number', 'null'],
        description: "Seconds, by the group's own clock; null if no hint waits.",
      }),
      parked: described(COUNT, 'Set aside after repeated failures of the row itself.'),
      conflicts: described(COUNT, 'Kept because another body is at their address.'),
      in_doubt: described(
        COUNT,
        'Hints with two bodies for one address, either maybe acknowledged: an operator chooses.',
      ),
    }),
    object({ group: TEXT, error: ITEM_ERROR }),
  ),
);
export type GroupBuffer = Of<typeof GROUP_BUFFER>;

/** A kept hint: it was answered 202 and another body has its address, or it is in doubt. */
const KEPT = named(
  'BufferConflict',
  object({
    id: described(TEXT, '`group/number`, to discard or keep it.'),
    ...ADDRESS_MEMBERS,
    body: BODY,
    shard: SHARD,
    created_at: TIME,
    transaction: OF_TRANSACTION,
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

const SEE = { method: 'GET', handler: 'read-cells' } as const;
const CHANGE = { method: 'POST', handler: 'write-cells', mayCall: ['console'] } as const;
const PAGE = { ...LIMIT, ...afterText('group-2/17', 'Continue after this id.') };

export const BUFFER_READS = operations({
  getBuffer: {
    ...SEE,
    mayCall: ['readers', 'movers'],
    path: '/v1/{datastore}/buffer',
    summary: 'See the buffered writes of each group',
    answers: {
      200: {
        means: 'For each group, the writes of this datastore that it holds for other groups.',
        body: object({ groups: list(GROUP_BUFFER) }),
        example: { groups: [{ group: 'group-1', rows: 2, oldest_age: 3.5, parked: 0, conflicts: 1, in_doubt: 0 }] },
      },
    },
  },
  listBufferConflicts: {
    ...SEE,
    mayCall: ['readers'],
    path: '/v1/{datastore}/buffer/conflicts',
    summary: 'List the buffered writes in conflict',
    more: 'Each was answered 202; later, another body was found at its address.',
    query: PAGE,
    errors: ['answer_too_large'],
    answers: {
      200: {
        means: 'The kept writes.',
        body: object({ conflicts: list(KEPT), next: orNull(TEXT) }),
        example: { conflicts: [KEPT_EXAMPLE], next: null },
      },
    },
  },
  listWritesInDoubt: {
    ...SEE,
    mayCall: ['readers'],
    path: '/v1/{datastore}/buffer/in-doubt',
    summary: 'List the writes in doubt',
    more: 'A primary lost its last cells with its disk, and two bodies wait for one address, either of which may be acknowledged. Until an operator keeps one, the shard takes no appends, and writes to it are buffered.',
    query: PAGE,
    errors: ['answer_too_large'],
    answers: {
      200: {
        means: 'The writes, once for each copy.',
        body: object({ in_doubt: list(KEPT), next: orNull(TEXT) }),
        example: { in_doubt: [KEPT_EXAMPLE], next: null },
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
      200: { means: 'The number of deleted conflicts.', body: object({ discarded: COUNT }), example: { discarded: 1 } },
    },
  },
  keepWritesInDoubt: {
    ...CHANGE,
    path: '/v1/{datastore}/buffer/in-doubt/keep',
    summary: 'Choose the bodies to store',
    more: 'Each is stored within seconds; the others at its address become kept conflicts. Repeat the request if not every group could be reached.',
    // Each id takes a statement on every group.
    body: idsOf('the id of a write in doubt, as GET /buffer/in-doubt lists it', LIMITS.batchCells),
    bodyExample: { ids: ['group-2/17'] },
    answers: {
      200: { means: 'The number that were in doubt.', body: object({ kept: COUNT }), example: { kept: 1 } },
    },
  },
});

export type BufferOperations = Methods<typeof BUFFER_READS> & Methods<typeof BUFFER_CHANGES>;
