import { CELL, DIGEST as SOME_DIGEST } from './examples.ts';
import { integer, maybe, members, SWITCH } from './input.ts';
import { operations, type Methods } from './operation.ts';
import { COUNT, DECIMAL, list, named, object, oneOf, orNull, described, TEXT, WHEN, type Of } from './shape.ts';
import { ADDED_ID, DIGEST, GROUP_NAME, SHARD } from './words.ts';

/**
 * A move keeps a **copy** of a shard on another group, which follows the shard's log. A switch exchanges shard and
 * copy: the first switch moves the shard, the next one moves it back. `completeMove` drops the copy once the shard is
 * where it is to stay; `cancelMove` drops it before the first switch.
 */

/** The maximum of `complete_after_seconds`: a year. */
export const MOST_SECONDS = 31_536_000;

const MOVE = named(
  'Move',
  object({
    shard: SHARD,
    from: described(GROUP_NAME, 'The group of the shard; a switch exchanges it with `to`.'),
    to: described(GROUP_NAME, 'The group of its copy.'),
    step: described(
      oneOf('waiting', 'copying', 'following', 'switching', 'dropping', 'completed', 'cancelled'),
      '`waiting`: another move that copies uses one of its groups. `following`: the copy has all but the last cells. `switching`: the shard takes no writes for a moment. `completed`, `cancelled`: it is over.',
    ),
    wanted: described(oneOf('switch', 'drop', null), 'The requested step that is not done yet.'),
    switches: described(COUNT, 'How often shard and copy were exchanged.'),
    created_at: WHEN,
    switched_at: described(orNull(WHEN), 'When they were last exchanged; null if never.'),
    head: described(ADDED_ID, 'The last added id seen in the shard.'),
    copied: described(ADDED_ID, 'The last added id in the copy.'),
    compared: described(ADDED_ID, 'The last added id compared in both.'),
    bytes: described(COUNT, 'Bytes of copied bodies.'),
    bytes_per_second: described(DECIMAL, 'The recent rate.'),
    eta_seconds: described(orNull(DECIMAL), 'Until the copy is complete, at that rate; null if unknown.'),
    digest: described(orNull(DIGEST), 'Of both at `compared`, over their stored rows; null before the first cell.'),
    restarts: described(
      COUNT,
      "How often copying restarted from an earlier added id because the shard's log, or the copy, had lost its end.",
    ),
    closed_ms: described(list(DECIMAL), 'For each switch, the milliseconds in which the shard took no writes.'),
    complete_after_seconds: described(
      orNull(integer(0, MOST_SECONDS)),
      'Seconds from the switch until the copy is dropped automatically; null: never.',
    ),
    last_error: described(orNull(TEXT), 'The last error; null while all goes well.'),
  }),
);
export type MoveStatus = Of<typeof MOVE>;
export type MoveStep = MoveStatus['step'];

const COPYING = {
  shard: CELL.shard,
  from: 'group-1',
  to: 'group-4',
  step: 'copying',
  wanted: null,
  switches: 0,
  created_at: '2026-01-31T08:00:00.000Z',
  switched_at: null,
  head: 120_000,
  copied: 60_000,
  compared: 59_000,
  bytes: 41_760_000,
  bytes_per_second: 4_200_000,
  eta_seconds: 10,
  digest: SOME_DIGEST,
  restarts: 0,
  closed_ms: [],
  complete_after_seconds: null,
  last_error: null,
} as const;
const FOLLOWING = { ...COPYING, step: 'following', copied: 120_000, compared: 120_000, eta_seconds: 0 } as const;
const MOVED = {
  ...FOLLOWING,
  from: COPYING.to,
  to: COPYING.from,
  switches: 1,
  switched_at: '2026-01-31T08:10:00.000Z',
  closed_ms: [42],
} as const;

const OF_MOVES = { handler: 'manage-moves', mayCall: ['movers'] } as const;
/** A change of a move. */
const STEP = {
  method: 'POST',
  handler: 'manage-moves',
  mayCall: ['movers', 'console'],
  sharesRoute: true,
  body: members({}),
  mayLackBody: true,
  errors: ['unknown_move', 'move_refused'],
} as const;

export const MOVES = operations({
  listMoves: {
    ...OF_MOVES,
    method: 'GET',
    path: '/v1/{datastore}/moves',
    summary: 'List the moves of shards',
    more: 'The moves under way: the groups of the shard and its copy, and the progress.',
    answers: {
      200: {
        means: 'Every move that is under way, by shard.',
        body: object({ moves: list(MOVE) }),
        example: { moves: [COPYING] },
      },
    },
  },
  createMove: {
    ...OF_MOVES,
    method: 'POST',
    mayCall: ['movers', 'console'],
    path: '/v1/{datastore}/moves',
    summary: 'Move a shard to another group',
    more: 'Begins a copy of the shard there, which follows its log. The shard stays where it is until the switch. A repeated request with the same group returns the move under way.',
    body: members({
      shard: SHARD,
      to: GROUP_NAME,
      switch: described(SWITCH, 'Switch automatically, once, as soon as the copy is complete.'),
      complete_after_seconds: described(
        maybe(integer(0, MOST_SECONDS)),
        'Drop the copy automatically this many seconds after the switch. Never if omitted.',
      ),
    }),
    bodyExample: { shard: CELL.shard, to: COPYING.to, switch: true, complete_after_seconds: 86_400 },
    answers: { 202: { means: 'It is under way.', body: MOVE, example: { ...COPYING, copied: 0, compared: 0 } } },
    errors: ['unknown_shard', 'move_refused'],
  },
  getMove: {
    ...OF_MOVES,
    method: 'GET',
    path: '/v1/{datastore}/moves/{shard}',
    summary: 'See the move of a shard',
    more: 'The move under way, or the last one that ended.',
    answers: { 200: { means: 'The move.', body: MOVE, example: FOLLOWING } },
    errors: ['unknown_move'],
  },
  switchMove: {
    ...STEP,
    path: '/v1/{datastore}/moves/{shard}/switch',
    summary: 'Make the copy the shard',
    more: 'Switches as soon as the copy is complete. Writes wait for a moment, or are buffered. After the first switch, see `reverseMove`.',
    answers: { 202: { means: 'It will be.', body: MOVE, example: { ...FOLLOWING, wanted: 'switch' } } },
  },
  reverseMove: {
    ...STEP,
    path: '/v1/{datastore}/moves/{shard}/reverse',
    summary: 'Undo the last switch',
    more: 'The same switch in reverse, with everything written since.',
    answers: { 202: { means: 'It will be.', body: MOVE, example: { ...MOVED, wanted: 'switch' } } },
  },
  completeMove: {
    ...STEP,
    path: '/v1/{datastore}/moves/{shard}/complete',
    summary: 'Drop the copy that a moved shard has left behind',
    more: 'The shard stays where it is. Refused before the first switch.',
    answers: { 202: { means: 'It will be.', body: MOVE, example: { ...MOVED, wanted: 'drop' } } },
  },
  cancelMove: {
    ...STEP,
    path: '/v1/{datastore}/moves/{shard}/cancel',
    summary: 'Cancel a move, and drop its copy',
    more: 'Refused once the shard has moved.',
    answers: { 202: { means: 'It will be.', body: MOVE, example: { ...COPYING, wanted: 'drop' } } },
  },
  verifyMove: {
    ...STEP,
    path: '/v1/{datastore}/moves/{shard}/verify',
    summary: 'Compare the whole copy with the shard again',
    more: 'Starts at the first cell. Cells that differ are copied again, which `restarts` counts.',
    answers: { 202: { means: 'It is being compared.', body: MOVE, example: { ...FOLLOWING, compared: 0 } } },
  },
});

export type MoveOperations = Methods<typeof MOVES>;
