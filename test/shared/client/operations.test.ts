import { describe, expect, it } from 'vitest';
import { erasuresClient } from '../../../shared/client/erasures-client.ts';
import { movesClient } from '../../../shared/client/moves-client.ts';
import type { ErasureOperations } from '../../../shared/contract/erasure-operations.ts';
import type { MoveOperations } from '../../../shared/contract/move-operations.ts';
import type { RewindTo, TriggerOperations } from '../../../shared/contract/trigger-operations.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { fakeDeployment } from '../../functions/support/fake-deployment.ts';
import { AWAY, ERASED, ERASING, fakeErasures, KEPT } from '../../functions/support/fake-erasures.ts';
import { fakeMoves, MOVE } from '../../functions/support/fake-moves.ts';
import * as fake from '../../functions/support/fake-triggers.ts';
import { gateway, gatewayFetch } from '../../functions/support/gateway.ts';
import { errorOf } from '../../support/datastore-conformance.ts';
import { clientOf } from './opened.ts';

/** Clients of operators' routes over fakes, which note what they are asked. */
const optionsOver = (fakes: Parameters<typeof fakeDeployment>[0]) => ({
  url: 'http://gateway.test',
  datastore: 'trips',
  attempts: 2,
  fetch: gatewayFetch(gateway(fakeDeployment(fakes))),
});
const moves = (asked: unknown[][] = [], changes: Partial<MoveOperations> = {}) =>
  movesClient(optionsOver({ ...fakeMoves(asked), ...changes }));
const erasures = (asked: unknown[][] = [], changes: Partial<ErasureOperations> = {}) =>
  erasuresClient(optionsOver({ ...fakeErasures(asked), ...changes }));
const triggers = (asked: unknown[][] = [], changes: Partial<TriggerOperations> = {}) =>
  clientOf(fakeDeployment({ ...fake.fakeTriggers(asked), ...changes }), { attempts: 2 });

const ROW = ERASED.row_key;
const reason = 'request 4711';

describe('answers are as the server gives them', () => {
  it.each<[string, () => Promise<unknown>, unknown]>([
    ['triggers', () => triggers().triggers(), [fake.SUMMARY]],
    ['a trigger', () => triggers().trigger('bill_rider'), { ...fake.SUMMARY, shards: fake.TRIGGER_SHARDS, next: 1 }],
    [
      'parked cells',
      () => triggers().parkedCells('bill_rider'),
      { cells: [fake.PARKED], malformed: [fake.MALFORMED], next: null },
    ],
    ['moves', () => moves().moves(), [MOVE]],
    ['a move', () => moves().move(2), MOVE],
    ['erasures', () => erasures().erasures(), { erasures: [ERASED, ERASING], next: null }],
    ['open erasures', () => erasures().erasures({ open: true }), { erasures: [ERASING], next: null }],
    ['a page of erasures', () => erasures().erasures({ limit: 1 }), { erasures: [ERASED], next: ERASED.id }],
    ['the next page', () => erasures().erasures({ limit: 1, after: ERASED.id }), { erasures: [ERASING], next: null }],
    ['an erasure', () => erasures().erasure(ERASED.id), ERASED],
    ['retention', () => erasures().retention(), KEPT],
  ])('%s', async (_what, call, answer) => {
    expect(await call()).toEqual(answer);
  });

  it('an erasure that goes on comes with what it waits for, and is no error', async () => {
    const { state, waits_for } = await erasures().erase({ row_key: ROW, column_name: AWAY, reason });
    expect({ state, waits_for }).toEqual({ state: 'erasing', waits_for: ERASING.waits_for });
  });
});

describe('calls reach the server with every option, as given', () => {
  it('of moves', async () => {
    const asked: unknown[][] = [];
    const client = moves(asked);
    expect(await client.createMove(2, 'group-2')).toMatchObject({ shard: 2, to: 'group-2' });
    await client.createMove(2, 'group-3', { switch: true, complete_after_seconds: 60 });
    for (const step of [client.switchMove, client.reverseMove, client.completeMove, client.cancelMove])
      expect(await step(2)).toMatchObject({ shard: 2 });
    await client.verifyMove(2);
    expect(asked).toEqual([
      ['create', 2, 'group-2', { switch: false, complete_after_seconds: undefined }],
      ['create', 2, 'group-3', { switch: true, complete_after_seconds: 60 }],
      ...['switch', 'reverse', 'complete', 'cancel', 'verify'].map((step) => [step, 2]),
    ]);
  });

  it('of erasures', async () => {
    const asked: unknown[][] = [];
    const base = { column_name: 'BASE' };
    const targets = [{}, { column_name: 'a/b' }, { ...base, up_to: 3 }, { ...base, ref_key: 0 }];
    for (const target of targets) await erasures(asked).erase({ row_key: ROW, ...target, reason });
    expect(asked).toEqual(targets.map((target) => ['erase', { row_key: ROW, ...target, reason }]));
  });

  it('of triggers', async () => {
    const asked: unknown[][] = [];
    const client = triggers(asked);
    const cells = [{ shard: 3, added_id: 17 }];
    const addedIds = new Map([
      [0, 14],
      [3, 0],
    ]);
    const rewinds: readonly RewindTo[] = ['start', { since: '2026-01-31T08:00:00.000000Z' }, { shards: addedIds }];
    await client.trigger('bill_rider', { limit: 7, after: 3 });
    expect(await client.pauseTrigger('bill_rider', 'wait')).toMatchObject({ state: 'paused', reason: 'wait' });
    await client.pauseTrigger('bill_rider');
    expect(await client.resumeTrigger('bill_rider')).toMatchObject({ state: 'running' });
    for (const to of rewinds)
      expect(await client.rewindTrigger('bill_rider', to)).toMatchObject({ rewound_at: '2026-01-31T09:00:00.000000Z' });
    await client.parkedCells('bill_rider', { limit: 7, after: '3/17' });
    for (const call of [client.retryParked, client.discardParked]) {
      expect(await call('bill_rider', cells)).toEqual({ count: cells.length - 1, not_parked: cells.slice(-1) });
      expect(await call('bill_rider', '*')).toEqual({ count: 9, not_parked: [] });
    }
    expect(await client.deadMessages('bill_rider', { limit: 3 })).toEqual({ messages: [fake.DEAD], count: 1 });
    expect(await client.replayDead('bill_rider')).toEqual({ count: 1, left: 0 });
    expect(await client.discardDead('bill_rider')).toEqual({ count: 1, left: 2 });
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
});

describe('calls are refused', () => {
  it.each<[string, object, () => Promise<unknown>]>([
    ['a move that does not exist', { code: 'unknown_move', details: { field: 'shard' } }, () => moves().move(0)],
    ['a shard that does not exist', { code: 'unknown_shard' }, () => moves().move(4)],
    ['a step that is too early', { code: 'move_refused', retry: 'never' }, () => moves().completeMove(3)],
    [
      'an erasure that does not exist',
      { code: 'unknown_erasure', status: 404 },
      () => erasures().erasure('00000000-0000-5000-8000-000000000000'),
    ],
  ])('by the server: %s', async (_what, refusal, call) => {
    expect(await errorOf(call)).toMatchObject(refusal);
  });

  it.each(['nope', '..', '', 'a/b', 'bill_rider/parked'])('of the trigger %j', async (name) => {
    const asked: unknown[][] = [];
    const client = triggers(asked);
    const { trigger, pauseTrigger, resumeTrigger, rewindTrigger, parkedCells, retryParked, discardParked } = client;
    const calls = [trigger, pauseTrigger, resumeTrigger, parkedCells].map((call) => () => call(name));
    for (const call of [
      ...calls,
      () => rewindTrigger(name, 'start'),
      () => retryParked(name, '*'),
      () => discardParked(name, '*'),
    ])
      expect(await errorOf(call)).toMatchObject({ code: 'unknown_trigger', details: { field: 'trigger' } });
    expect(asked).toEqual([]);
  });
});

describe('calls are repeated when their state was unavailable', () => {
  function failingOnce<Arguments extends unknown[], Result>(call: (...given: Arguments) => Promise<Result>) {
    let calls = 0;
    return async (...given: Arguments): Promise<Result> => {
      calls += 1;
      if (calls === 1) throw new SchemalessError('unavailable', 'the state table did not answer');
      return call(...given);
    };
  }

  it.each<[string, () => Promise<unknown>, object]>([
    [
      'of a move',
      () => moves([], { switchMove: failingOnce(fakeMoves().switchMove) }).switchMove(2),
      { wanted: 'switch' },
    ],
    [
      'of an erasure',
      () => erasures([], { erase: failingOnce(fakeErasures().erase) }).erase({ row_key: ROW, reason }),
      { state: 'erased' },
    ],
    [
      'of a trigger',
      () => triggers([], { resumeTrigger: failingOnce(fake.fakeTriggers().resumeTrigger) }).resumeTrigger('bill_rider'),
      { state: 'running' },
    ],
  ])('%s', async (_what, call, answer) => {
    expect(await call()).toMatchObject(answer);
  });
});
