import { CELL, DIGEST as SOME_DIGEST } from './examples.ts';
import { integer, maybe, members, SWITCH } from './input.ts';
import { operations, type Methods } from './operation.ts';
import { COUNT, FIGURE, list, named, object, oneOf, orNull, said, TEXT, WHEN, type Of } from './shape.ts';
import { ADDED_ID, DIGEST, GROUP_NAME, SHARD } from './words.ts';

/**
 * A move keeps a **copy** of a shard on another group, which follows the shard's log. A switch makes the copy the shard,
 * and what was the shard the copy: the first one moves the shard, the next one moves it back. The copy is dropped by
 * `completeMove` once the shard is where it is to stay, or by `cancelMove` before it was ever switched.
 */

/** The most that `complete_after_seconds` may say: a year. */
export const MOST_SECONDS = 31_536_000;

const MOVE = named(
  'Move',
  object({
    shard: SHARD,
    from: said(GROUP_NAME, 'Who holds the shard; a switch exchanges it with `to`.'),
    to: said(GROUP_NAME, 'Who holds its copy.'),
    step: said(
      oneOf('waiting', 'copying', 'following', 'switching', 'dropping', 'completed', 'cancelled'),
      '`waiting`: another move that copies uses one of its groups. `following`: the copy has all but the last cells. `switching`: the shard takes no writes for a moment. `completed`, `cancelled`: it is over.',
    ),
    wanted: said(oneOf('switch', 'drop', null), 'What was asked for, and is not done yet.'),
    switches: said(COUNT, 'How often shard and copy were exchanged.'),
    created_at: WHEN,
    switched_at: said(orNull(WHEN), 'When they were exchanged last; null where they never were.'),
    head: said(ADDED_ID, 'The last added id that the shard was seen to have.'),
    copied: said(ADDED_ID, 'The last one that the copy has.'),
    compared: said(ADDED_ID, 'Up to where both were compared.'),
    bytes: said(COUNT, 'Of bodies that were copied.'),
    bytes_per_second: said(FIGURE, 'Lately.'),
    eta_seconds: said(orNull(FIGURE), 'Until the copy has all of the shard, by that; null where nobody knows.'),
    digest: said(
      orNull(DIGEST),
      'Of both at `compared`, over their rows as they are stored; null before the first cell.',
    ),
    restarts: said(
      COUNT,
      "How often the copy was begun anew from an earlier place, since the shard's log, or the copy, had lost its end.",
    ),
    closed_ms: said(list(FIGURE), 'Milliseconds for which the shard took no writes, of each switch.'),
    complete_after_seconds: said(
      orNull(integer(0, MOST_SECONDS)),
      'Seconds after the switch after which the copy is dropped by itself; null: never.',
    ),
    last_error: said(orNull(TEXT), 'What it stumbled over last; null where it goes well.'),
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
  body: members({}),
  mayLackBody: true,
  errors: ['unknown_shard', 'unknown_move', 'move_refused'],
} as const;

export const MOVES = operations({
  listMoves: {
    ...OF_MOVES,
    method: 'GET',
    path: '/v1/{datastore}/moves',
    summary: 'List the moves of shards',
    more: 'Those that are under way: who holds the shard, who its copy, and how far that is.',
    answers: {
      200: {
        means: 'Every move that is under way, by shard.',
        body: object({ moves: list(MOVE) }),
        example: { moves: [COPYING] },
      },
    },
    errors: [],
  },
  createMove: {
    ...OF_MOVES,
    method: 'POST',
    mayCall: ['movers', 'console'],
    path: '/v1/{datastore}/moves',
    summary: 'Move a shard to another group',
    more: 'Begins a copy of the shard there, which follows its log. The shard stays where it is until the switch. Asked again with the same group, it answers the move that is under way.',
    body: members({
      shard: SHARD,
      to: GROUP_NAME,
      switch: said(SWITCH, 'Switch by itself, once, as soon as the copy has all.'),
      complete_after_seconds: said(
        maybe(integer(0, MOST_SECONDS)),
        'Drop the copy by itself so many seconds after that. Never when left out.',
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
    more: 'The one that is under way, or the last one that ended.',
    answers: { 200: { means: 'The move.', body: MOVE, example: FOLLOWING } },
    errors: ['unknown_shard', 'unknown_move'],
  },
  switchMove: {
    ...STEP,
    path: '/v1/{datastore}/moves/{shard}/switch',
    summary: 'Make the copy the shard',
    more: 'As soon as it has all of it. Writes wait for a moment meanwhile, or are buffered. After the first time, see `reverseMove`.',
    answers: { 202: { means: 'It will be.', body: MOVE, example: { ...FOLLOWING, wanted: 'switch' } } },
  },
  reverseMove: {
    ...STEP,
    path: '/v1/{datastore}/moves/{shard}/reverse',
    summary: 'Make the shard again what it was before the last switch',
    more: 'With everything that was written since: the same switch, the other way.',
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
    summary: 'Give up a move, and drop its copy',
    more: 'Refused once the shard has moved.',
    answers: { 202: { means: 'It will be.', body: MOVE, example: { ...COPYING, wanted: 'drop' } } },
  },
  verifyMove: {
    ...STEP,
    path: '/v1/{datastore}/moves/{shard}/verify',
    summary: 'Compare the whole copy with the shard once more',
    more: 'From the first cell. What differs is copied anew, which `restarts` says.',
    answers: { 202: { means: 'It is being compared.', body: MOVE, example: { ...FOLLOWING, compared: 0 } } },
  },
});

export type MoveOperations = Methods<typeof MOVES>;
