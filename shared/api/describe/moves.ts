import { MOST_SECONDS } from '../move-schemas.ts';
import { arrayOf, objectOf, schema } from '../schema.ts';
import { OF_BODY, OF_DATASTORE, type Description } from './description.ts';
import { CELL, DIGEST } from './examples.ts';

const MOVE = {
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
  digest: DIGEST,
  restarts: 0,
  closed_ms: [],
  complete_after_seconds: null,
  last_error: null,
} as const;
const FOLLOWING = { ...MOVE, step: 'following', copied: 120_000, compared: 120_000, eta_seconds: 0 } as const;
const MOVED = {
  ...FOLLOWING,
  from: MOVE.to,
  to: MOVE.from,
  switches: 1,
  switched_at: '2026-01-31T08:10:00.000Z',
  closed_ms: [42],
} as const;

const OF_MOVE = [...OF_DATASTORE, 'invalid_field', 'unknown_shard', 'unknown_move'] as const;
const OF_STEP = [...OF_MOVE, 'move_refused'] as const;

/** The routes of those who move shards. */
export const MOVES = {
  listMoves: {
    summary: 'List the moves of shards',
    more: 'Those that are under way: who holds the shard, who its copy, and how far that is.',
    answers: {
      200: {
        means: 'Every move that is under way, by shard.',
        schema: objectOf({ moves: arrayOf(schema('Move')) }),
        example: { moves: [MOVE] },
      },
    },
    problems: OF_DATASTORE,
  },
  createMove: {
    summary: 'Move a shard to another group',
    more: 'Begins a copy of the shard there, which follows its log. The shard stays where it is until the switch. Asked again with the same group, it answers the move that is under way.',
    request: {
      schema: objectOf(
        {
          shard: schema('Shard'),
          to: schema('GroupName'),
          switch: {
            type: 'boolean',
            default: false,
            description: 'Switch by itself, once, as soon as the copy has all.',
          },
          complete_after_seconds: {
            type: 'integer',
            minimum: 0,
            maximum: MOST_SECONDS,
            description: 'Drop the copy by itself so many seconds after that. Never when left out.',
          },
        },
        ['switch', 'complete_after_seconds'],
      ),
      example: { shard: CELL.shard, to: MOVE.to, switch: true, complete_after_seconds: 86_400 },
    },
    answers: {
      202: { means: 'It is under way.', schema: schema('Move'), example: { ...MOVE, copied: 0, compared: 0 } },
    },
    problems: [...OF_DATASTORE, ...OF_BODY, 'unknown_shard', 'move_refused'],
  },
  getMove: {
    summary: 'See the move of a shard',
    more: 'The one that is under way, or the last one that ended.',
    answers: { 200: { means: 'The move.', schema: schema('Move'), example: FOLLOWING } },
    problems: OF_MOVE,
  },
  switchMove: {
    summary: 'Make the copy the shard',
    more: 'As soon as it has all of it. Writes wait for a moment meanwhile, or are buffered. After the first time, see `reverseMove`.',
    answers: {
      202: { means: 'It will be.', schema: schema('Move'), example: { ...FOLLOWING, wanted: 'switch' } },
    },
    problems: OF_STEP,
  },
  reverseMove: {
    summary: 'Make the shard again what it was before the last switch',
    more: 'With everything that was written since: the same switch, the other way.',
    answers: { 202: { means: 'It will be.', schema: schema('Move'), example: { ...MOVED, wanted: 'switch' } } },
    problems: OF_STEP,
  },
  completeMove: {
    summary: 'Drop the copy that a moved shard has left behind',
    more: 'The shard stays where it is. Refused before the first switch.',
    answers: { 202: { means: 'It will be.', schema: schema('Move'), example: { ...MOVED, wanted: 'drop' } } },
    problems: OF_STEP,
  },
  cancelMove: {
    summary: 'Give up a move, and drop its copy',
    more: 'Refused once the shard has moved.',
    answers: { 202: { means: 'It will be.', schema: schema('Move'), example: { ...MOVE, wanted: 'drop' } } },
    problems: OF_STEP,
  },
  verifyMove: {
    summary: 'Compare the whole copy with the shard once more',
    more: 'From the first cell. What differs is copied anew, which `restarts` says.',
    answers: {
      202: { means: 'It is being compared.', schema: schema('Move'), example: { ...FOLLOWING, compared: 0 } },
    },
    problems: OF_STEP,
  },
} as const satisfies Record<string, Description>;
