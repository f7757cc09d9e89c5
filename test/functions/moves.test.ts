import { describe, expect, it } from 'vitest';
import { SchemalessError } from '../../shared/errors.ts';
import { fakeDeployment } from './support/fake-deployment.ts';
import { fakeMoves, MOVE, SIZES } from './support/fake-moves.ts';
import { gateway, type GatewayAnswer } from './support/gateway.ts';

/** What a request was answered, and what it asked of the moves. */
async function ask(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ readonly answer: GatewayAnswer; readonly asked: unknown[][] }> {
  const asked: unknown[][] = [];
  const answer = await gateway(fakeDeployment(fakeMoves(asked)))({
    method,
    path: `/v1/trips/moves${path}`,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { answer, asked };
}

describe('the routes of moves', () => {
  it('list them, and show one', async () => {
    expect((await ask('GET', '')).answer).toMatchObject({ status: 200, json: { moves: [MOVE] } });
    const { answer, asked } = await ask('GET', '/2');
    expect(answer).toMatchObject({ status: 200, json: MOVE });
    expect(asked).toEqual([['move', 2]]);
  });

  it('begin one, with what is wished of it', async () => {
    const { answer, asked } = await ask('POST', '', { shard: 2, to: 'group-2' });
    expect(answer).toMatchObject({ status: 202, json: { shard: 2, to: 'group-2', complete_after_seconds: null } });
    expect(asked).toEqual([['create', 2, 'group-2', { switch: false, complete_after_seconds: undefined }]]);
    const whole = await ask('POST', '', { shard: 0, to: 'group-3', switch: true, complete_after_seconds: 86_400 });
    expect(whole.answer).toMatchObject({ status: 202, json: { shard: 0, complete_after_seconds: 86_400 } });
    expect(whole.asked).toEqual([['create', 0, 'group-3', { switch: true, complete_after_seconds: 86_400 }]]);
  });

  it.each(['switch', 'reverse', 'complete', 'cancel', 'verify'])('take one on: %s', async (step) => {
    for (const body of [undefined, {}]) {
      const { answer, asked } = await ask('POST', `/2/${step}`, body);
      expect(answer).toMatchObject({ status: 202, json: { shard: 2 } });
      expect(asked).toEqual([[step, 2]]);
    }
  });

  it('say how large the shards are, and of which that is not known', async () => {
    const path = '/v1/trips/shards/sizes';
    expect(await gateway(fakeDeployment())({ method: 'GET', path })).toMatchObject({ status: 200, json: SIZES });
    const error = new SchemalessError('unavailable', 'no node of group-1 answered in time');
    const shardSizes = async () => ({ groups: ['group-1'], shards: [{ shard: 0, group: 'group-1', error }] });
    const { json } = await gateway(fakeDeployment({ shardSizes }))({ method: 'GET', path });
    expect(json).toMatchObject({ shards: [{ shard: 0, group: 'group-1', error: { code: 'unavailable' } }] });
  });

  it('refuse what its step does not allow, and change nothing', async () => {
    const { answer, asked } = await ask('POST', '/3/reverse');
    expect(answer).toMatchObject({ status: 409, json: { code: 'move_refused', retry: 'never' } });
    const there = await ask('POST', '', { shard: 2, to: 'group-1' });
    expect(there.answer).toMatchObject({ status: 409, json: { code: 'move_refused' } });
    expect([...asked, ...there.asked]).toEqual([]);
  });
});
