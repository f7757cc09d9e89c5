import { describe, expect, it } from 'vitest';
import { SchemalessError } from '../../../shared/errors.ts';
import type { RewindTo, TriggerOperations } from '../../../shared/contract/trigger-operations.ts';
import { fakeDeployment } from '../../functions/support/fake-deployment.ts';
import {
  DEAD,
  fakeTriggers,
  MALFORMED,
  PARKED,
  SUMMARY,
  TRIGGER_SHARDS,
} from '../../functions/support/fake-triggers.ts';
import { errorOf } from '../../support/datastore-conformance.ts';
import { clientOf } from './opened.ts';

const client = (asked: unknown[][] = [], changes: Partial<TriggerOperations> = {}) =>
  clientOf(fakeDeployment({ ...fakeTriggers(asked), ...changes }), { attempts: 2 });

describe('the triggers of a client', () => {
  it('are listed and shown as the server sees them', async () => {
    const trips = client();
    expect(await trips.triggers()).toEqual([SUMMARY]);
    expect(await trips.trigger('bill_rider')).toEqual({ ...SUMMARY, shards: TRIGGER_SHARDS, next: 1 });
    expect(await trips.parkedCells('bill_rider')).toEqual({ cells: [PARKED], malformed: [MALFORMED], next: null });
  });

  it('are asked with every option, as given', async () => {
    const asked: unknown[][] = [];
    const trips = client(asked);
    const cells = [{ shard: 3, added_id: 17 }];
    const addedIds = new Map([
      [0, 14],
      [3, 0],
    ]);
    const rewinds: readonly RewindTo[] = ['start', { since: '2026-01-31T08:00:00.000000Z' }, { shards: addedIds }];
    await trips.trigger('bill_rider', { limit: 7, after: 3 });
    expect(await trips.pauseTrigger('bill_rider', 'wait')).toMatchObject({ state: 'paused', reason: 'wait' });
    await trips.pauseTrigger('bill_rider');
    expect(await trips.resumeTrigger('bill_rider')).toMatchObject({ state: 'running' });
    for (const to of rewinds)
      expect(await trips.rewindTrigger('bill_rider', to)).toMatchObject({ rewound_at: '2026-01-31T09:00:00.000000Z' });
    await trips.parkedCells('bill_rider', { limit: 7, after: '3/17' });
    for (const call of [trips.retryParked, trips.discardParked]) {
      expect(await call('bill_rider', cells)).toEqual({ count: cells.length - 1, not_parked: cells.slice(-1) });
      expect(await call('bill_rider', '*')).toEqual({ count: 9, not_parked: [] });
    }
    expect(await trips.deadMessages('bill_rider', { limit: 3 })).toEqual({ messages: [DEAD], count: 1 });
    expect([await trips.replayDead('bill_rider'), await trips.discardDead('bill_rider')]).toEqual([
      { count: 1, left: 0 },
      { count: 1, left: 2 },
    ]);
    expect(asked).toEqual([
      ['trigger', 'bill_rider', { limit: 7, after: 3 }],
      ['pause', 'bill_rider', 'wait'],
      ['pause', 'bill_rider', undefined],
      ['resume', 'bill_rider'],
      ...rewinds.map((to) => ['rewind', 'bill_rider', to]),
      ['parked', 'bill_rider', { limit: 7, after: '3/17' }],
      ['retry', 'bill_rider', cells],
      ['retry', 'bill_rider', '*'],
      ['discard', 'bill_rider', cells],
      ['discard', 'bill_rider', '*'],
      ['dead', 'bill_rider', { limit: 3 }],
      ['replay', 'bill_rider'],
      ['discard dead', 'bill_rider'],
    ]);
  });

  it.each(['nope', '..', '', 'a/b', 'bill_rider/parked'])('that are not there are refused: %j', async (name) => {
    const asked: unknown[][] = [];
    const trips = client(asked);
    const calls = [
      () => trips.trigger(name),
      () => trips.pauseTrigger(name),
      () => trips.resumeTrigger(name),
      () => trips.rewindTrigger(name, 'start'),
      () => trips.parkedCells(name),
      () => trips.retryParked(name, '*'),
      () => trips.discardParked(name, '*'),
    ];
    for (const call of calls)
      expect(await errorOf(call)).toMatchObject({ code: 'unknown_trigger', details: { field: 'trigger' } });
    expect(asked).toEqual([]);
  });

  it('are asked again when their state was away', async () => {
    let times = 0;
    const resumeTrigger: TriggerOperations['resumeTrigger'] = async (name) => {
      times += 1;
      if (times === 1) throw new SchemalessError('unavailable', 'the state table did not answer');
      return fakeTriggers().resumeTrigger(name);
    };
    expect(await client([], { resumeTrigger }).resumeTrigger('bill_rider')).toMatchObject({ state: 'running' });
    expect(times).toBe(2);
  });
});
