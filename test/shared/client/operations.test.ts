import { describe, expect, it } from 'vitest';
import type { RewindTarget } from '../../../shared/api/rewind-target.ts';
import { apiClient, type ApiClient } from '../../../shared/client/api-client.ts';
import type { Json } from '../../../shared/cell.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { fakeDeployment } from '../../functions/support/fake-deployment.ts';
import { AWAY, ERASED, ERASING, fakeErasures, KEPT } from '../../functions/support/fake-erasures.ts';
import { fakeMoves, MOVE } from '../../functions/support/fake-moves.ts';
import * as fake from '../../functions/support/fake-triggers.ts';
import { gateway, gatewayFetch } from '../../functions/support/gateway.ts';
import { errorOf } from '../../support/datastore-conformance.ts';

/** A client of operators' routes over fakes, which note what they are asked. */
function api(asked: unknown[][] = [], changes: Parameters<typeof fakeDeployment>[0] = {}): ApiClient {
  const fakes = { ...fake.fakeTriggers(asked), ...fakeMoves(asked), ...fakeErasures(asked), ...changes };
  const fetch = gatewayFetch(gateway(fakeDeployment(fakes)));
  return apiClient({ url: 'http://gateway.test', datastore: 'trips', attempts: 2, fetch });
}

const ROW = ERASED.row_key;
const reason = 'request 4711';
const BILL_RIDER = { trigger: 'bill_rider' };

describe('answers are as the server gives them', () => {
  it.each<[string, () => Promise<unknown>, unknown]>([
    ['triggers', () => api().listTriggers(), { triggers: [fake.SUMMARY] }],
    ['a trigger', () => api().getTrigger(BILL_RIDER), { ...fake.SUMMARY, shards: fake.TRIGGER_SHARDS, next: 1 }],
    [
      'parked cells',
      () => api().listParkedCells(BILL_RIDER),
      { cells: [fake.PARKED], malformed: [fake.MALFORMED], next: null },
    ],
    ['moves', () => api().listMoves(), { moves: [MOVE] }],
    ['a move', () => api().getMove({ shard: 2 }), MOVE],
    ['erasures', () => api().listErasures(), { erasures: [ERASED, ERASING], next: null }],
    ['open erasures', () => api().listErasures({ open: true }), { erasures: [ERASING], next: null }],
    ['a page of erasures', () => api().listErasures({ limit: 1 }), { erasures: [ERASED], next: ERASED.id }],
    ['the next page', () => api().listErasures({ limit: 1, after: ERASED.id }), { erasures: [ERASING], next: null }],
    ['an erasure', () => api().getErasure({ erasure: ERASED.id }), ERASED],
    ['retention', () => api().getRetention(), KEPT],
  ])('%s', async (_what, call, answer) => {
    expect(await call()).toEqual(answer);
  });

  it('an erasure that goes on comes with what it waits for, and is no error', async () => {
    const { state, waits_for } = await api().eraseCells({ row_key: ROW, column_name: AWAY, reason });
    expect({ state, waits_for }).toEqual({ state: 'erasing', waits_for: ERASING.waits_for });
  });
});

describe('calls reach the server with every option, as given', () => {
  it('of moves', async () => {
    const asked: unknown[][] = [];
    const client = api(asked);
    expect(await client.createMove({ shard: 2, to: 'group-2' })).toMatchObject({ shard: 2, to: 'group-2' });
    await client.createMove({ shard: 2, to: 'group-3', switch: true, complete_after_seconds: 60 });
    for (const step of [client.switchMove, client.reverseMove, client.completeMove, client.cancelMove])
      expect(await step({ shard: 2 })).toMatchObject({ shard: 2 });
    await client.verifyMove({ shard: 2 });
    expect(asked).toEqual([
      ['createMove', { shard: 2, to: 'group-2' }],
      ['createMove', { shard: 2, to: 'group-3', switch: true, complete_after_seconds: 60 }],
      ...['switch', 'reverse', 'complete', 'cancel', 'verify'].map((step) => [`${step}Move`, { shard: 2 }]),
    ]);
  });

  it('of erasures', async () => {
    const asked: unknown[][] = [];
    const base = { column_name: 'BASE' };
    const targets = [{}, { column_name: 'a/b' }, { ...base, up_to: 3 }, { ...base, ref_key: 0 }];
    for (const target of targets) await api(asked).eraseCells({ row_key: ROW, ...target, reason });
    expect(asked).toEqual(targets.map((target) => ['eraseCells', { row_key: ROW, ...target, reason }]));
  });

  it('of triggers', async () => {
    const asked: unknown[][] = [];
    const client = api(asked);
    const cells = [{ shard: 3, added_id: 17 }];
    const rewinds: readonly RewindTarget[] = ['start', '2026-01-31T08:00:00.000000Z', { 0: 14, 3: 0 }];
    await client.getTrigger({ ...BILL_RIDER, limit: 7, after: 3 });
    const why = { ...BILL_RIDER, reason: 'wait' };
    expect(await client.pauseTrigger(why)).toMatchObject({ state: 'paused', reason: 'wait' });
    await client.pauseTrigger(BILL_RIDER);
    expect(await client.resumeTrigger(BILL_RIDER)).toMatchObject({ state: 'running' });
    for (const to of rewinds)
      expect(await client.rewindTrigger({ ...BILL_RIDER, to })).toMatchObject({
        rewound_at: '2026-01-31T09:00:00.000000Z',
      });
    expect(await client.rewindTrigger({ ...BILL_RIDER, to: 'now', dry_run: true })).toMatchObject({ dry_run: true });
    await client.listParkedCells({ ...BILL_RIDER, limit: 7, after: '3/17' });
    const some = { ...BILL_RIDER, cells };
    const all = { ...BILL_RIDER, cells: '*' } as const;
    const not_parked = cells.slice(-1);
    expect(await client.retryParkedCells(some)).toEqual({ wanted: cells.length - 1, not_parked });
    expect(await client.retryParkedCells(all)).toEqual({ wanted: 9, not_parked: [] });
    expect(await client.discardParkedCells(some)).toEqual({ discarded: cells.length - 1, not_parked });
    expect(await client.discardParkedCells(all)).toEqual({ discarded: 9, not_parked: [] });
    expect(await client.listDeadMessages({ ...BILL_RIDER, limit: 3 })).toEqual({ messages: [fake.DEAD], count: 1 });
    expect(await client.replayDeadMessages(BILL_RIDER)).toEqual({ replayed: 1, left: 0 });
    expect(await client.discardDeadMessages(BILL_RIDER)).toEqual({ discarded: 1, left: 2 });
    expect(asked).toEqual([
      ['getTrigger', { ...BILL_RIDER, limit: 7, after: 3 }],
      ['pauseTrigger', why],
      ['pauseTrigger', BILL_RIDER],
      ['resumeTrigger', BILL_RIDER],
      ...rewinds.map((to) => ['rewindTrigger', { ...BILL_RIDER, to }]),
      ['rewindTrigger', { ...BILL_RIDER, to: 'now', dry_run: true }],
      ['listParkedCells', { ...BILL_RIDER, limit: 7, after: '3/17' }],
      ['retryParkedCells', some],
      ['retryParkedCells', all],
      ['discardParkedCells', some],
      ['discardParkedCells', all],
      ['listDeadMessages', { ...BILL_RIDER, limit: 3 }],
      ['replayDeadMessages', BILL_RIDER],
      ['discardDeadMessages', BILL_RIDER],
    ]);
  });
});

it('what is in the buffer is shown, discarded and decided', async () => {
  const created_at = '2026-01-31T08:00:00.000000Z';
  const address = { row_key: ROW, column_name: 'A', ref_key: 1 };
  const conflict = { id: 'group-1/1', ...address, body: 1, shard: 0, created_at };
  const client = api([], {
    listBufferConflicts: async () => ({ conflicts: [conflict], next: 'group-1/1' }),
    listUndecidedWrites: async () => ({ undecided: [conflict], next: null }),
  });
  expect(await client.getBuffer()).toEqual({
    groups: [{ group: 'group-1', rows: 0, oldest_age: null, parked: 0, conflicts: 0, undecided: 0 }],
  });
  expect(await client.listBufferConflicts({ limit: 1 })).toEqual({ conflicts: [conflict], next: 'group-1/1' });
  expect(await client.discardBufferConflicts({ ids: ['group-1/1'] })).toEqual({ discarded: 1 });
  expect(await client.listUndecidedWrites({ limit: 1 })).toEqual({ undecided: [conflict], next: null });
  expect(await client.keepUndecidedWrites({ ids: ['group-1/1', 'group-1/2'] })).toEqual({ kept: 2 });
});

describe('a value that JSON would change', () => {
  const put = (body: unknown): Promise<unknown> =>
    api().putCell({ row_key: ROW, column_name: 'BASE', ref_key: 1, body: body as Json });
  it.each<[string, unknown]>([
    ['NaN', { fare: NaN }],
    ['nothing', { a: undefined, b: 1 }],
    // oxlint-disable-next-line no-sparse-arrays -- that is what is tested
    ['a hole', [1, , 3]],
    ['a Date', new Date(0)],
    ['a Map', new Map()],
    ['bytes', new Uint8Array(2)],
  ])('is not put into a cell: %s', async (_what, body) => {
    expect(await errorOf(() => put(body))).toMatchObject({ code: 'invalid_field' });
    const cells = [{ row_key: ROW, column_name: 'BASE', ref_key: 1, body: body as Json }];
    expect(await errorOf(() => api().batchPut({ cells }))).toMatchObject({ code: 'invalid_field' });
  });

  it('does not widen an erasure', async () => {
    for (const column_name of [() => 'BASE', Symbol('BASE'), undefined])
      expect(await errorOf(() => api().eraseCells({ row_key: ROW, column_name, reason } as never))).toMatchObject({
        details: { field: 'column_name' },
      });
  });
});

it('a dry run that nobody decided on is refused', async () => {
  const dry_run = undefined;
  for (const call of [
    () => api().rewindTrigger({ ...BILL_RIDER, to: 'start', dry_run }),
    () => api().deleteTrigger({ ...BILL_RIDER, confirm: 'bill_rider', dry_run }),
  ])
    expect(await errorOf(call)).toMatchObject({ code: 'missing_field', details: { field: 'dry_run' } });
});

it('health is answered where no node answers, too', async () => {
  expect(await api().getHealth()).toMatchObject({ status: 'down', groups: [] });
});

describe('calls are refused', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['a query', () => api().listErasures({ open: true, limits: 3 } as never)],
    [
      'a body that is one value',
      () => api().putCell({ row_key: ROW, column_name: 'BASE', ref_key: 1, body: 1, created_at: 'now' } as never),
    ],
    ['a body of members', () => api().createMove({ shard: 2, to: 'group-2', force: true } as never)],
    ['a body of none', () => api().switchMove({ shard: 2, force: true } as never)],
    [
      "another datastore than the client's",
      () => api().eraseCells({ datastore: 'billing', row_key: ROW, reason } as never),
    ],
  ])('with a parameter that is not known: %s', async (_what, call) => {
    expect(await errorOf(call)).toMatchObject({ code: 'unknown_field' });
  });

  it.each<[string, object, () => Promise<unknown>]>([
    [
      'a move that does not exist',
      { code: 'unknown_move', details: { field: 'shard' } },
      () => api().getMove({ shard: 0 }),
    ],
    ['a shard that does not exist', { code: 'unknown_shard' }, () => api().getMove({ shard: 4 })],
    ['a step that is too early', { code: 'move_refused', retry: 'never' }, () => api().completeMove({ shard: 3 })],
    [
      'an erasure that does not exist',
      { code: 'unknown_erasure', status: 404 },
      () => api().getErasure({ erasure: '00000000-0000-5000-8000-000000000000' }),
    ],
  ])('by the server: %s', async (_what, refusal, call) => {
    expect(await errorOf(call)).toMatchObject(refusal);
  });

  it.each(['nope', '..', '', 'a/b', 'bill_rider/parked'])('of the trigger %j', async (trigger) => {
    const asked: unknown[][] = [];
    const client = api(asked);
    for (const call of [
      () => client.getTrigger({ trigger }),
      () => client.pauseTrigger({ trigger }),
      () => client.resumeTrigger({ trigger }),
      () => client.listParkedCells({ trigger }),
      () => client.rewindTrigger({ trigger, to: 'start' }),
      () => client.retryParkedCells({ trigger, cells: '*' }),
      () => client.discardParkedCells({ trigger, cells: '*' }),
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
      () => api([], { switchMove: failingOnce(fakeMoves().switchMove) }).switchMove({ shard: 2 }),
      { wanted: 'switch' },
    ],
    [
      'of an erasure',
      () => api([], { eraseCells: failingOnce(fakeErasures().eraseCells) }).eraseCells({ row_key: ROW, reason }),
      { state: 'erased' },
    ],
    [
      'of a trigger',
      () => api([], { resumeTrigger: failingOnce(fake.fakeTriggers().resumeTrigger) }).resumeTrigger(BILL_RIDER),
      { state: 'running' },
    ],
  ])('%s', async (_what, call, answer) => {
    expect(await call()).toMatchObject(answer);
  });
});
