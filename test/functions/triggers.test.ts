import { describe, expect, it } from 'vitest';
import type { TriggerOperations } from '../../shared/contract/trigger-operations.ts';
import { fakeDeployment } from './support/fake-deployment.ts';
import { DEAD, fakeTriggers, MALFORMED, PARKED, SUMMARY, TRIGGER_SHARDS } from './support/fake-triggers.ts';
import { gateway, type GatewayAnswer } from './support/gateway.ts';

const PATH = '/v1/trips/triggers';

/** What a request was answered, and what it asked of the triggers. */
async function ask(
  method: string,
  path: string,
  body?: unknown,
  changes: Partial<TriggerOperations> = {},
): Promise<{ readonly answer: GatewayAnswer; readonly asked: unknown[][] }> {
  const asked: unknown[][] = [];
  const answer = await gateway(fakeDeployment({ ...fakeTriggers(asked), ...changes }))({
    method,
    path: `${PATH}${path}`,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { answer, asked };
}

describe('the routes of triggers', () => {
  it('list them, and show one with a page of its shards', async () => {
    expect((await ask('GET', '')).answer).toMatchObject({ status: 200, json: { triggers: [SUMMARY] } });
    const { answer, asked } = await ask('GET', '/bill_rider?limit=2&after=0');
    expect(answer.json).toEqual({ ...SUMMARY, shards: TRIGGER_SHARDS, next: 1 });
    expect(asked).toEqual([['trigger', 'bill_rider', { limit: 2, after: 0 }]]);
    expect((await ask('GET', '/bill_rider')).asked).toEqual([
      ['trigger', 'bill_rider', { limit: 100, after: undefined }],
    ]);
  });

  it('pause, with or without a reason, and resume', async () => {
    const { answer, asked } = await ask('POST', '/bill_rider/pause', { reason: 'the card service is down' });
    expect(answer).toMatchObject({
      status: 200,
      json: { trigger: 'bill_rider', state: 'paused', reason: 'the card service is down' },
    });
    expect(asked).toEqual([['pause', 'bill_rider', 'the card service is down']]);
    for (const body of [undefined, {}])
      expect((await ask('POST', '/bill_rider/pause', body)).asked).toEqual([['pause', 'bill_rider', undefined]]);
    expect((await ask('POST', '/bill_rider/resume')).answer).toMatchObject({ status: 200, json: { state: 'running' } });
  });

  it.each<[string, unknown, unknown]>([
    ['the start', 'start', 'start'],
    ['a time, kept in UTC', '2026-01-31T09:00:00.5+01:00', { since: '2026-01-31T08:00:00.500000Z' }],
    [
      'added ids of shards',
      { 0: 14, 3: 0 },
      {
        shards: new Map([
          [0, 14],
          [3, 0],
        ]),
      },
    ],
    ['the ends of the logs', 'now', 'now'],
  ])('rewind to %s', async (_what, to, location) => {
    const { answer, asked } = await ask('POST', '/bill_rider/rewind', { to });
    expect(asked).toEqual([['rewind', 'bill_rider', location]]);
    expect(answer).toMatchObject({
      status: 200,
      json: { trigger: 'bill_rider', rewound_at: '2026-01-31T09:00:00.000000Z' },
    });
  });

  it('say what a rewind would skip', async () => {
    const { answer, asked } = await ask('POST', '/bill_rider/rewind', { to: 'now', dry_run: true });
    expect(asked).toEqual([['rewind', 'bill_rider', 'now', 'dry run']]);
    expect(answer.json).toMatchObject({ dry_run: true, skips: [{ shard: 0, after: 16, to: 17, cells: 1 }] });
  });

  it('list what is parked, by pages', async () => {
    const { answer, asked } = await ask('GET', '/bill_rider/parked?limit=7&after=0/3');
    expect(answer.json).toEqual({ cells: [PARKED], malformed: [MALFORMED], next: null });
    expect(asked).toEqual([['parked', 'bill_rider', { limit: 7, after: '0/3' }]]);
  });

  it('retry and discard the cells named, or all', async () => {
    const cells = [
      { shard: 0, added_id: 7 },
      { shard: 3, added_id: 1 },
    ];
    const retry = await ask('POST', '/bill_rider/parked/retry', { cells });
    expect([retry.answer.json, retry.asked]).toEqual([
      { wanted: 1, not_parked: [{ shard: 3, added_id: 1 }] },
      [['retry', 'bill_rider', cells]],
    ]);
    const discard = await ask('POST', '/bill_rider/parked/discard', { cells: '*' });
    expect([discard.answer.json, discard.asked]).toEqual([
      { discarded: 9, not_parked: [] },
      [['discard', 'bill_rider', '*']],
    ]);
  });

  it('list, replay and discard what SQS gave up on', async () => {
    const dead = await ask('GET', '/bill_rider/dead?limit=7');
    expect([dead.answer.json, dead.asked]).toEqual([
      { messages: [DEAD], count: 1 },
      [['dead', 'bill_rider', { limit: 7 }]],
    ]);
    expect((await ask('POST', '/bill_rider/dead/replay')).answer.json).toEqual({ replayed: 1, left: 0 });
    expect((await ask('POST', '/bill_rider/dead/discard')).answer.json).toEqual({ discarded: 1, left: 2 });
  });
});
