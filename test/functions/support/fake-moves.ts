import { SchemalessError, wrongField } from '../../../shared/errors.ts';
import { MOVES, type MoveOperations, type MoveStatus } from '../../../shared/api/moves.ts';

/** The shards of `trips`, as `fake-deployment.ts` has it. */
const SHARDS = 4;

export const MOVE: MoveStatus = {
  ...MOVES.getMove.answers[200].example,
  shard: 2,
  to: 'group-2',
  step: 'copying',
  head: 1000,
  copied: 250,
  compared: 200,
  bytes_per_second: 58_000,
  eta_seconds: 9,
};

/** The moves of a datastore in which shard 2 is being moved, and shard 3 is at a step that takes nothing. */
export function fakeMoves(): MoveOperations {
  const known = (shard: number): void => {
    if (shard >= SHARDS) throw wrongField('shard', `a shard, 0 to ${SHARDS - 1}`, String(shard), 'unknown_shard');
  };
  const step =
    (changes: Partial<MoveStatus>, isPoll = false) =>
    async ({ shard }: { readonly shard: number }): Promise<MoveStatus> => {
      known(shard);
      if (shard < MOVE.shard) throw wrongField('shard', 'one that is being moved', String(shard), 'unknown_move');
      if (shard > MOVE.shard && !isPoll) throw new SchemalessError('move_refused', `shard ${shard} has not moved yet`);
      return { ...MOVE, shard, ...changes };
    };
  return {
    listMoves: async () => ({ moves: [MOVE] }),
    getMove: step({}, true),
    async createMove({ shard, to, complete_after_seconds = null }) {
      known(shard);
      if (to === MOVE.from) throw new SchemalessError('move_refused', `shard ${shard} is on ${to}`);
      return { ...MOVE, shard, to, complete_after_seconds };
    },
    switchMove: step({ step: 'following', wanted: 'switch' }),
    reverseMove: step({ step: 'following', wanted: 'switch', switches: 1 }),
    completeMove: step({ step: 'following', wanted: 'drop', switches: 1 }),
    cancelMove: step({ wanted: 'drop' }),
    verifyMove: step({ compared: 0 }),
  };
}
