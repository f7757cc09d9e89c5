import type { Json } from '../cell.ts';
import type { MoveOperations, MoveStatus } from '../contract/move-operations.ts';
import type { Call } from './calls.ts';
import { connect } from './connection.ts';
import type { ClientOptions } from './options.ts';

/**
 * Moves shards of a datastore over HTTP: what operators may do. Apart from the client of a datastore, which each program
 * carries, since no program moves shards.
 *
 * ```ts
 * const moves = movesClient({ url: 'http://127.0.0.1:4000', datastore: 'trips' });
 * await moves.createMove(233, 'group-4', { switch: true });
 * ```
 */
export function movesClient(options: ClientOptions): MoveOperations {
  const send = connect(options);
  const ask = async (
    method: Call['method'],
    rest: Call['path'] = [],
    body?: Readonly<Record<string, unknown>>,
  ): Promise<Readonly<Record<string, Json>>> =>
    (await send({ method, path: ['moves', ...rest], ...(body && { body }) })).json;
  const one = async (...asked: Parameters<typeof ask>): Promise<MoveStatus> =>
    (await ask(...asked)) as unknown as MoveStatus;

  return {
    moves: async () => (await ask('GET'))['moves'] as unknown as readonly MoveStatus[],
    move: (shard) => one('GET', [shard]),
    createMove: (shard, to, options = {}) => one('POST', [], { shard, to, ...options }),
    switchMove: (shard) => one('POST', [shard, 'switch']),
    reverseMove: (shard) => one('POST', [shard, 'reverse']),
    completeMove: (shard) => one('POST', [shard, 'complete']),
    cancelMove: (shard) => one('POST', [shard, 'cancel']),
    verifyMove: (shard) => one('POST', [shard, 'verify']),
  };
}
