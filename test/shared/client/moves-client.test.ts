import { describe, expect, it } from 'vitest';
import { movesClient } from '../../../shared/client/moves-client.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { MoveOperations } from '../../../shared/contract/move-operations.ts';
import type { SizeOperations } from '../../../shared/contract/shard-plan.ts';
import { fakeDeployment } from '../../functions/support/fake-deployment.ts';
import { fakeMoves, MOVE, SIZES } from '../../functions/support/fake-moves.ts';
import { gateway, gatewayFetch } from '../../functions/support/gateway.ts';
import { errorOf } from '../../support/datastore-conformance.ts';

type Operations = MoveOperations & SizeOperations;

const client = (asked: unknown[][] = [], changes: Partial<Operations> = {}): Operations =>
  movesClient({
    url: 'http://gateway.test',
    datastore: 'trips',
    attempts: 2,
    fetch: gatewayFetch(gateway(fakeDeployment({ ...fakeMoves(asked), ...changes }))),
  });

describe('the moves of a client', () => {
  it('are listed and shown as the server sees them', async () => {
    expect(await client().moves()).toEqual([MOVE]);
    expect(await client().move(2)).toEqual(MOVE);
  });

  it('come with the sizes of shards, in which errors are made again', async () => {
    expect(await client().shardSizes()).toEqual(SIZES);
    const error = new SchemalessError('unavailable', 'no node of group-1 answered in time');
    const shards = [{ shard: 0, group: 'group-1', error }];
    const sizes = await client([], { shardSizes: async () => ({ groups: ['group-1'], shards }) }).shardSizes();
    expect(sizes.shards[0]?.error).toBeInstanceOf(SchemalessError);
    expect(sizes.shards[0]?.error).toMatchObject({ code: 'unavailable' });
  });

  it('are begun and taken on, as given', async () => {
    const asked: unknown[][] = [];
    const moves = client(asked);
    expect(await moves.createMove(2, 'group-2')).toMatchObject({ shard: 2, to: 'group-2' });
    await moves.createMove(2, 'group-3', { switch: true, complete_after_seconds: 60 });
    for (const step of [moves.switchMove, moves.reverseMove, moves.completeMove, moves.cancelMove, moves.verifyMove])
      expect(await step(2)).toMatchObject({ shard: 2 });
    expect(asked).toEqual([
      ['create', 2, 'group-2', { switch: false, complete_after_seconds: undefined }],
      ['create', 2, 'group-3', { switch: true, complete_after_seconds: 60 }],
      ...['switch', 'reverse', 'complete', 'cancel', 'verify'].map((step) => [step, 2]),
    ]);
  });

  it('that are not there, or at another step, are refused in the words of the server', async () => {
    expect(await errorOf(() => client().move(0))).toMatchObject({ code: 'unknown_move', details: { field: 'shard' } });
    expect(await errorOf(() => client().move(4))).toMatchObject({ code: 'unknown_shard' });
    expect(await errorOf(() => client().completeMove(3))).toMatchObject({ code: 'move_refused', retry: 'never' });
  });

  it('are asked again when their state was away', async () => {
    let times = 0;
    const switchMove: MoveOperations['switchMove'] = async (shard) => {
      times += 1;
      if (times === 1) throw new SchemalessError('unavailable', 'the state table did not answer');
      return fakeMoves().switchMove(shard);
    };
    expect(await client([], { switchMove }).switchMove(2)).toMatchObject({ wanted: 'switch' });
    expect(times).toBe(2);
  });
});
