import type { MoveOperations, MoveStatus } from '../contract/move-operations.ts';
import { answerTo, type Call } from './calls.ts';
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
  const ask = <Answer = MoveStatus>(
    method: Call['method'],
    rest: Call['path'] = [],
    body?: Readonly<Record<string, unknown>>,
  ): Promise<Answer> => answerTo(send, { method, path: ['moves', ...rest], ...(body && { body }) });

  return {
    moves: async () => (await ask<{ moves: readonly MoveStatus[] }>('GET')).moves,
    move: (shard) => ask('GET', [shard]),
    createMove: (shard, to, more = {}) => ask('POST', [], { shard, to, ...more }),
    switchMove: (shard) => ask('POST', [shard, 'switch']),
    reverseMove: (shard) => ask('POST', [shard, 'reverse']),
    completeMove: (shard) => ask('POST', [shard, 'complete']),
    cancelMove: (shard) => ask('POST', [shard, 'cancel']),
    verifyMove: (shard) => ask('POST', [shard, 'verify']),
  };
}
