import { SchemalessError } from '../../../shared/errors.ts';
import type { MoveOperations, MoveStatus } from '../../../shared/api/moves.ts';

/** The shards of `trips`, as `fake-deployment.ts` has it. */
const SHARDS = 4;

export const MOVE: MoveStatus = {
  shard: 2,
  from: 'group-1',
  to: 'group-2',
  step: 'copying',
  wanted: null,
  switches: 0,
  created_at: '2026-01-31T08:00:00.000Z',
  switched_at: null,
  head: 1000,
  copied: 250,
  compared: 200,
  bytes: 174_000,
  bytes_per_second: 58_000,
  eta_seconds: 9,
  digest: 'ab'.repeat(32),
  restarts: 0,
  closed_ms: [],
  complete_after_seconds: null,
  last_error: null,
};

/**
 * The moves of a datastore in which shard 2 is being moved, and shard 3 is at a step that takes nothing; what was asked
 * of them is kept in `asked`.
 */
export function fakeMoves(asked: unknown[][] = []): MoveOperations {
  const known = (shard: number): void => {
    if (shard >= SHARDS)
      throw new SchemalessError('unknown_shard', `no shard ${shard}`, {
        field: 'shard',
        wanted: `a shard, 0 to ${SHARDS - 1}`,
        got: String(shard),
      });
  };
  const step =
    (what: keyof MoveOperations, changes: Partial<MoveStatus>) =>
    async ({ shard }: { readonly shard: number }): Promise<MoveStatus> => {
      known(shard);
      if (shard < MOVE.shard)
        throw new SchemalessError('unknown_move', `shard ${shard} is not being moved`, {
          field: 'shard',
          wanted: 'a shard that is being moved',
          got: String(shard),
        });
      if (shard > MOVE.shard && what !== 'getMove')
        throw new SchemalessError('move_refused', `shard ${shard} has not moved yet`);
      asked.push([what, { shard }]);
      return { ...MOVE, shard, ...changes };
    };
  return {
    listMoves: async () => ({ moves: [MOVE] }),
    getMove: step('getMove', {}),
    async createMove(wished) {
      const { shard, to, complete_after_seconds = null } = wished;
      known(shard);
      if (to === MOVE.from) throw new SchemalessError('move_refused', `shard ${shard} is on ${to}`);
      asked.push(['createMove', wished]);
      return { ...MOVE, shard, to, complete_after_seconds };
    },
    switchMove: step('switchMove', { step: 'following', wanted: 'switch' }),
    reverseMove: step('reverseMove', { step: 'following', wanted: 'switch', switches: 1 }),
    completeMove: step('completeMove', { step: 'following', wanted: 'drop', switches: 1 }),
    cancelMove: step('cancelMove', { wanted: 'drop' }),
    verifyMove: step('verifyMove', { compared: 0 }),
  };
}
