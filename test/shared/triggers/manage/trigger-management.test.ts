import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { TriggerDefinition } from '../../../../shared/definitions/definitions.ts';
import type { ShardOffset } from '../../../../shared/follow/offsets.ts';
import { OffsetItems } from '../../../../shared/follow/offset-items.ts';
import { openFollower } from '../../../../shared/follow/follower-item.ts';
import { unread } from '../../../../shared/follow/start-offsets.ts';
import { triggerStore, type TriggerStore } from '../../../../shared/triggers/state/dynamo-trigger-store.ts';
import { triggerFollower } from '../../../../shared/triggers/state/trigger-items.ts';
import type { TriggerMessage } from '../../../../shared/triggers/state/trigger-store.ts';
import { triggerManagement } from '../../../../shared/triggers/manage/trigger-management.ts';
import type { RewindTarget } from '../../../../shared/api/rewind-target.ts';
import type { TriggerOperations } from '../../../../shared/api/triggers.ts';
import { reportLag } from '../../../../shared/triggers/send/tail-trigger.ts';
import type { TailWork } from '../../../../shared/triggers/send/tail-work.ts';
import type { Queues } from '../../../../shared/triggers/state/queues.ts';
import type { DynamoTable } from '../../../../shared/dynamo/table.ts';
import { entityTable } from '../../../../shared/sql/names.ts';
import { cellOf, errorOf, rowsOfShard } from '../../../support/datastore-conformance.ts';
import { dynamoClient, newTable } from '../../../support/dynamo.ts';
import { faults } from '../../../support/faulty-client.ts';
import { openRealStore } from '../../../support/real-store.ts';
import { change } from '../../../support/plain-sql.ts';
import { nextMoment } from '../state/support/each-trigger.ts';
import { messageOf as triggerMessage } from '../consume/support/stage.ts';
import { triggerNamed } from '../../../support/trigger-named.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const SHARDS = 6;
const PARTITIONS = 2;
const DEFINITION = triggerNamed('bill_rider', {
  columns: ['BASE'],
  function: 'functions/examples/bill-rider.ts',
  retryParkedEveryMs: 600_000,
});
const since = '2026-01-31T08:00:00.000000Z';
const FROM_TIME = triggerNamed('count_cells', {
  start: { since },
  maxAttempts: 3,
  stopAfterParked: 10,
  timeoutSeconds: 5,
});
const deployed = (definition: TriggerDefinition) => ({
  definition,
  queueUrl: `http://queue/${definition.name}.fifo`,
  parkedQueueUrl: `http://queue/${definition.name}-parked.fifo`,
});
const HEADS = [4, 0, 7, 2, 0, 0];

const broken = faults();
const held = new Map<string, number>();
const queues: Omit<Queues, 'send'> = {
  depth: async (url) => held.get(url) ?? 0,
  receive: async () => [],
  hide: async () => undefined,
  remove: async () => undefined,
};
let stateTable: DynamoTable;
let triggers: TriggerOperations;
let state: TriggerStore;

const store = await openRealStore({
  datastores: { trips: SHARDS, late: 1 },
  triggers: { trips: [deployed(DEFINITION), deployed(FROM_TIME)], late: [deployed(DEFINITION)] },
  bufferCopies: 0,
  wrap: broken.wrap,
});
afterAll(() => store.close());
const datastore = store.nameOf('trips');
const trips = await store.deployment.datastore(datastore);
const homes = (await store.topology.datastore(datastore))?.homes ?? [];
const groups = homes.map(({ group }) => group);
for (const [shard, cells] of HEADS.entries())
  for (const row_key of rowsOfShard(shard, SHARDS, cells)) await trips.put(cellOf({ row_key }));

const managing = (of = datastore, table = stateTable) =>
  triggerManagement({ context: store.context, stateTable: table, queues }).triggers(of);

async function restart(): Promise<void> {
  stateTable = await newTable(dynamoClient(inject('servers').dynamo));
  triggers = await managing();
  state = triggerStore(stateTable, { datastore, trigger: 'bill_rider' });
}
beforeEach(async () => {
  broken.behaviours.clear();
  await restart();
});

const follower = () => ({ name: triggerFollower('bill_rider'), datastore });

/**
 * As a tailer leaves them; undefined where it has not begun.
 *
 * @param given the last cells that were wanted, by shard @default nobody has noted it
 */
async function commitOffsets(
  offsets: readonly (number | undefined)[] = HEADS,
  given: readonly (number | undefined)[] = [],
): Promise<void> {
  await openFollower(stateTable, follower(), SHARDS, PARTITIONS);
  const items = new OffsetItems(stateTable, { ...follower(), shards: SHARDS, partitions: PARTITIONS });
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    const { token = 0, generation = 0 } = (await items.take(partition, 'tailer', [])) ?? {};
    const mine = offsets
      .map((offset, shard): ShardOffset | undefined =>
        offset === undefined
          ? undefined
          : { ...unread(offset), ...(given[shard] !== undefined && { given: given[shard] }) },
      )
      .filter((_, shard) => shard % PARTITIONS === partition);
    expect(await items.commit(partition, { token, generation }, mine)).toBe(true);
  }
}

/** @param how each write of offsets is done */
function managingWith(how: (write: () => Promise<unknown>) => Promise<unknown>): Promise<TriggerOperations> {
  const { client } = stateTable;
  const changed = Object.create(client) as typeof client;
  changed.send = ((command: UpdateItemCommand) => {
    const write = () => client.send(command);
    const isOffsets = command instanceof UpdateItemCommand && command.input.Key?.['pk']?.S?.startsWith('offsets#');
    return isOffsets === true ? how(write) : write();
  }) as typeof client.send;
  return managing(datastore, { ...stateTable, client: changed });
}

const trigger = () => triggers.getTrigger({ trigger: 'bill_rider' });
const offsets = async (): Promise<(number | null)[]> => (await trigger()).shards.map(({ offset }) => offset);
const rewind = (to: RewindTarget, dry_run?: boolean) => triggers.rewindTrigger({ trigger: 'bill_rider', to, dry_run });
const consume = (ids: Readonly<Record<number, number>>) =>
  state.consumed.raise(
    new Map(
      Object.entries(ids).map(([shard, added_id]) => [Number(shard), { generation: 0, added_id, fingerprint: '' }]),
    ),
  );

/** Has three cells more in the datastore `late`, of which some, by default all, are an hour old. */
async function writtenLate(which = '') {
  const late = store.nameOf('late');
  const cells = await store.deployment.datastore(late);
  for (const row_key of rowsOfShard(0, 1, 3)) await cells.put(cellOf({ row_key }));
  const { group = '' } = (await store.topology.datastore(late))?.homes[0] ?? {};
  const older = `UPDATE ${entityTable(late, 0)} SET created_at = created_at - INTERVAL 1 HOUR ${which}`;
  await change(store.client(group), older);
  return { late, operations: await managing(late) };
}

const messageOf = (shard: number, addedId: number): TriggerMessage =>
  triggerMessage(shard, addedId, { datastore, row_key: ROW, created_at: since });

async function park(shard: number, added_id: number): Promise<void> {
  await state.failed(messageOf(shard, added_id), 'Error: no money', false);
  expect(await state.park(messageOf(shard, added_id), 'Error: no money', 100)).toBe('parked');
}

describe('a trigger, as its operator sees it', () => {
  it('says what its definition says', async () => {
    expect((await triggers.listTriggers()).triggers).toMatchObject([
      {
        trigger: 'bill_rider',
        state: 'running',
        reason: null,
        changed_at: null,
        rewound_at: null,
        columns: ['BASE'],
        function: 'functions/examples/bill-rider.ts',
        start: 'start',
        max_attempts: 5,
        stop_after_parked: 100,
        retry_parked_every_seconds: 600,
        timeout_seconds: 30,
      },
      {
        trigger: 'count_cells',
        columns: '*',
        function: null,
        start: '2026-01-31T08:00:00.000000Z',
        retry_parked_every_seconds: null,
      },
    ]);
  });

  it('is behind by what its offsets have before them', async () => {
    await commitOffsets([1, 0, 7, undefined, undefined, 0]);
    const { lag, shards, next } = await trigger();
    expect(shards.map(({ shard, offset, head, cells }) => `${shard}: ${offset} of ${head}, ${cells} to go`)).toEqual([
      '0: 1 of 4, 3 to go',
      '1: 0 of 0, 0 to go',
      '2: 7 of 7, 0 to go',
      '3: null of 2, 2 to go',
      '4: null of 0, 0 to go',
      '5: 0 of 0, 0 to go',
    ]);
    expect(lag).toEqual({
      cells: 5,
      seconds: Math.max(...shards.map(({ seconds }) => seconds ?? 0)),
      unknown_shards: 0,
    });
    expect(lag.seconds).toBeGreaterThan(0);
    expect(next).toBeNull();
  });

  it('is behind by what is not consumed; what is sent of that, and what waits on its queue, are told apart', async () => {
    await commitOffsets();
    await consume({ 0: 3, 1: 0, 2: 2, 3: 2 });
    held.set('http://queue/bill_rider.fifo', 4);
    held.set('http://queue/bill_rider-parked.fifo', 1);
    const { lag, sent, waiting, dead, shards } = await trigger();
    // Six come after the marks; two of them are of other columns, or were consumed since.
    expect({ lag: lag.cells, sent, waiting, dead }).toEqual({
      lag: 4,
      sent: { cells: 0, seconds: 0, unknown_shards: 0 },
      waiting: 4,
      dead: 1,
    });
    expect(lag.seconds).toBeGreaterThan(0);
    expect(shards.slice(0, 3).map(({ offset, consumed, cells }) => `${offset} ${consumed} ${cells}`)).toEqual([
      '4 3 1',
      '0 0 0',
      '7 2 5',
    ]);
    held.clear();
    // Nothing waits: all that was sent is consumed, whatever was written down.
    expect(await trigger()).toMatchObject({ lag: { cells: 0, seconds: 0 }, waiting: 0 });
  });

  it('is not behind in a shard by cells of other columns that came after the last one sent, whatever waits of the others', async () => {
    await commitOffsets(HEADS, [4, 0, 2, 0]);
    await consume({ 0: 3, 2: 2, 3: 0 });
    held.set('http://queue/bill_rider.fifo', 1);
    const { lag, shards } = await trigger();
    held.clear();
    expect(shards.slice(0, 4).map(({ consumed, cells, seconds }) => `${consumed} ${cells} ${seconds === 0}`)).toEqual([
      '3 1 false',
      '0 0 true',
      '7 0 true',
      '2 0 true',
    ]);
    expect(lag).toEqual({ cells: 1, seconds: shards[0]?.seconds, unknown_shards: 0 });
  });

  it('names what its function last failed with', async () => {
    expect(await trigger()).toMatchObject({ last_error: null });
    await state.failed(messageOf(2, 5), 'Error: no money', false);
    expect(await trigger()).toMatchObject({
      failing: 1,
      last_error: { error: 'Error: no money', at: expect.any(String), shard: 2, added_id: 5 },
    });
    for (const [shard, added_id, error] of [
      [0, 2, 'Error: no card'],
      [3, 1, 'Error: no bank'],
    ] as const) {
      await nextMoment();
      await state.failed(messageOf(shard, added_id), error, false);
      expect(await trigger()).toMatchObject({ last_error: { error, shard, added_id } });
    }
  });

  it('is as late as the oldest cell that it has not sent, by the clock of the group', async () => {
    const { operations } = await writtenLate('WHERE added_id = 1');
    const secondsAt = async (offset: number): Promise<number> => {
      await operations.rewindTrigger({ trigger: 'bill_rider', to: { 0: offset } });
      const { lag, shards } = await operations.getTrigger({ trigger: 'bill_rider' });
      expect(shards[0]?.seconds).toBe(lag.seconds);
      return lag.seconds;
    };
    const [some, all, none] = [await secondsAt(1), await secondsAt(0), await secondsAt(3)];
    // The younger is asked first: time that passes between the polls makes the difference no smaller.
    expect(all - some).toBeGreaterThanOrEqual(3600);
    expect(some).toBeGreaterThan(0);
    expect(none).toBe(0);
    // No more than this run has taken, whatever the zone of this process.
    expect(some).toBeLessThan(1500);
  });

  it('is no later than its consumers say in a shard that keeps up, whatever note of it was lost, while its consumers consume', async () => {
    const { late, operations } = await writtenLate();
    const { head } = (await operations.getTrigger({ trigger: 'bill_rider' })).shards[0] ?? {};
    await operations.rewindTrigger({ trigger: 'bill_rider', to: { 0: head ?? 0 } });
    const ofLate = triggerStore(stateTable, { datastore: late, trigger: 'bill_rider' });
    await ofLate.consumed.change([0], (_shard, mark) => mark && { ...mark, added_id: 0 });
    held.set('http://queue/bill_rider.fifo', 1);
    const seconds = async (): Promise<number> => (await operations.getTrigger({ trigger: 'bill_rider' })).lag.seconds;
    expect(await seconds()).toBeGreaterThanOrEqual(3600);
    await ofLate.confirmSound();
    await ofLate.park(messageOf(0, 1), 'declined', 100);
    const known = await seconds();
    expect(known).toBeGreaterThanOrEqual(60);
    expect(known).toBeLessThan(1500);
    // A consumer received a message of it that was late.
    await ofLate.mark(0, 1);
    expect(await seconds()).toBeGreaterThanOrEqual(3600);
    held.clear();
  });

  it('that begins elsewhere than at the start has an unknown lag before it has begun', async () => {
    const { lag, shards } = await triggers.getTrigger({ trigger: 'count_cells' });
    expect(lag).toEqual({ cells: 0, seconds: 0, unknown_shards: SHARDS });
    expect(shards[0]).toEqual({
      shard: 0,
      offset: null,
      head: 4,
      cells: null,
      seconds: null,
      parked: 0,
      failing: 0,
      consumed: null,
    });
  });

  it('is shown with the groups that answer while one does not', async () => {
    await commitOffsets([0, 0, 0, 0, 0, 0]);
    const group = groups[2] ?? '';
    broken.behaviours.set(group, 'down');
    const { lag, shards } = await trigger();
    expect(shards.map(({ head }) => head)).toEqual(HEADS.map((head, shard) => (groups[shard] === group ? null : head)));
    expect(lag).toMatchObject({
      unknown_shards: groups.filter((one) => one === group).length,
      cells: HEADS.reduce((sum, head, shard) => (groups[shard] === group ? sum : sum + head), 0),
    });
  });

  it('is shown by pages of its shards', async () => {
    const seen: number[] = [];
    let after: number | undefined;
    do {
      const { shards, next, lag } = await triggers.getTrigger({ trigger: 'bill_rider', limit: 4, after });
      seen.push(...shards.map(({ shard }) => shard));
      expect(lag.cells).toBe(13);
      after = next ?? undefined;
    } while (after !== undefined && seen.length < SHARDS);
    expect(after).toBeUndefined();
    expect(seen).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await errorOf(() => triggers.getTrigger({ trigger: 'bill_rider', after: SHARDS }))).toMatchObject({
      code: 'unknown_shard',
      field: 'after',
    });
  });

  it('is not one of another datastore, or of no name', async () => {
    const calls = ['nope', ''].flatMap((name) => [
      () => triggers.getTrigger({ trigger: name }),
      () => triggers.pauseTrigger({ trigger: name }),
      () => triggers.resumeTrigger({ trigger: name }),
      () => triggers.rewindTrigger({ trigger: name, to: 'start' }),
      () => triggers.listParkedCells({ trigger: name }),
      () => triggers.retryParkedCells({ trigger: name, cells: '*' }),
      () => triggers.discardParkedCells({ trigger: name, cells: '*' }),
    ]);
    for (const call of calls)
      expect(await errorOf(call)).toMatchObject({
        code: 'unknown_trigger',
        message: expect.stringMatching(/^trigger: wanted one of \w+(?:, \w+)*, got "\w*"$/u),
        field: 'trigger',
      });
    expect(await errorOf(() => managing('nope'))).toMatchObject({ code: 'unknown_datastore' });
  });

  it('cannot be seen nor changed while DynamoDB is unavailable', async () => {
    const client = dynamoClient('http://127.0.0.1:9');
    const unavailable = await managing(datastore, { client, table: 'gone' });
    for (const call of [
      () => unavailable.listTriggers(),
      () => unavailable.pauseTrigger({ trigger: 'bill_rider' }),
      () => unavailable.rewindTrigger({ trigger: 'bill_rider', to: 'start' }),
      () => unavailable.discardParkedCells({ trigger: 'bill_rider', cells: '*' }),
    ]) {
      expect(await errorOf(call)).toMatchObject({ code: 'unavailable', retry: 'later' });
    }
    client.destroy();
  });
});

describe('the switches of a trigger', () => {
  it('pause it with the reason, and resume it, also when it had stopped', async () => {
    const reason = 'the card service is down';
    expect(await triggers.pauseTrigger({ trigger: 'bill_rider', reason })).toMatchObject({
      trigger: 'bill_rider',
      state: 'paused',
      reason,
      changed_at: expect.stringMatching(/^20.*Z$/),
    });
    expect((await triggers.listTriggers()).triggers).toMatchObject([{ state: 'paused', reason }, { state: 'running' }]);
    await state.setState('stopped', '100 cells are parked');
    expect(await trigger()).toMatchObject({ state: 'stopped', reason: '100 cells are parked' });
    expect(await triggers.resumeTrigger({ trigger: 'bill_rider' })).toMatchObject({ state: 'running', reason: null });
  });
});

describe('a resume of a trigger of which nothing was ever known to be consumed', () => {
  const resumed = async (rewinds: boolean): Promise<readonly (number | null)[]> => {
    await commitOffsets();
    await consume({ 0: 0, 2: 0, 3: 0 });
    await state.beginQueue('http://queue/bill_rider.fifo', new Date().toISOString());
    await triggers.pauseTrigger({ trigger: 'bill_rider', reason: 'maintenance' });
    if (rewinds) await rewind('now');
    await triggers.resumeTrigger({ trigger: 'bill_rider' });
    return offsets();
  };

  it('sends all of its log again where its queue is empty, unless it was rewound to where it continues', async () => {
    expect(await resumed(true)).toEqual(HEADS);
    await restart();
    expect(await resumed(false)).toEqual([0, 0, 0, 0, 0, 0]);
  });
});

describe('a rewind', () => {
  it('goes to the start, and is known by its time', async () => {
    await commitOffsets();
    const before = new Date().toISOString();
    const { rewound_at } = await rewind('start');
    expect(await offsets()).toEqual([0, 0, 0, 0, 0, 0]);
    expect(rewound_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(Date.parse(rewound_at ?? '')).toBeGreaterThanOrEqual(Date.parse(before));
    expect((await state.status()).rewound_at).toBe(rewound_at);
  });

  it('that cannot find its place changes nothing', async () => {
    await commitOffsets();
    broken.behaviours.set(groups[2] ?? '', 'down');
    expect(await errorOf(() => rewind('2026-01-31T08:00:00Z'))).toMatchObject({ code: 'unavailable' });
    expect((await state.status()).rewound_at).toBeUndefined();
    broken.behaviours.clear();
    expect(await offsets()).toEqual(HEADS);
  });

  it('goes to a time', async () => {
    await commitOffsets();
    const [log] = await trips.log([{ shard: 2, after: 4 }]);
    const since = log?.error === undefined ? (log?.cells[0]?.created_at ?? '') : '';
    await rewind(since);
    expect(await offsets()).toEqual([4, 0, 4, 0, 0, 0]);
  });

  it('to now skips what was not sent, and says so before and after', async () => {
    await commitOffsets([1, 0, 7, 2, 0, 0]);
    const skips = [{ shard: 0, after: 1, to: 4, cells: 3 }];
    expect(await rewind('now', true)).toMatchObject({ dry_run: true, rewound_at: null, skipped: null, skips });
    expect(await offsets()).toEqual([1, 0, 7, 2, 0, 0]);
    const done = await rewind('now');
    expect(done).toMatchObject({ dry_run: false, skipped: { cells: 3, shards: 1 }, skips });
    expect(await offsets()).toEqual(HEADS);
    const { skipped, lag, sent, rewound_at } = await trigger();
    expect({ skipped, lag: lag.cells, sent: sent.cells }).toEqual({
      skipped: { cells: 3, shards: 1 },
      lag: 0,
      sent: 0,
    });
    expect(rewound_at).toBe(done.rewound_at);
    // There is nothing more to skip, and a rewind to before those cells sends them after all.
    expect((await rewind('now')).skips).toEqual([]);
    expect((await trigger()).skipped).toBeNull();
  });

  it('to now skips all of a log whose start it had not come to', async () => {
    const all = HEADS.flatMap((head, shard) => (head > 0 ? [{ shard, after: 0, to: head, cells: head }] : []));
    expect((await rewind('now', true)).skips).toEqual(all);
    for (const dry_run of [true, false])
      expect((await triggers.rewindTrigger({ trigger: 'count_cells', to: 'now', dry_run })).skips).toEqual(all);
  });

  it('that fails halfway says what it has skipped by then', async () => {
    await commitOffsets([1, 0, 7, 0, 0, 0]);
    let writes = 0;
    const unavailable = await managingWith(async (write) => {
      if ((writes += 1) > 1) throw new Error('unavailable');
      return write();
    });
    await expect(unavailable.rewindTrigger({ trigger: 'bill_rider', to: 'now' })).rejects.toThrow('unavailable');
    // Of the two shards that have cells to skip, whichever partition was written.
    expect([
      [4, 0, 7, 0, 0, 0],
      [1, 0, 7, 2, 0, 0],
    ]).toContainEqual(await offsets());
    const cells = (await offsets())[0] === 4 ? 3 : 2;
    expect((await trigger()).skipped).toEqual({ cells, shards: 1 });
  });

  it('says what it skipped where the answer to its write was lost, and the write repeated', async () => {
    await commitOffsets([1, 0, 7, 2, 0, 0]);
    let writes = 0;
    const repeating = await managingWith(async (write) => {
      if ((writes += 1) === 1) await write();
      return write();
    });
    const { skips, skipped } = await repeating.rewindTrigger({ trigger: 'bill_rider', to: 'now' });
    expect({ skips, skipped }).toEqual({
      skips: [{ shard: 0, after: 1, to: 4, cells: 3 }],
      skipped: { cells: 3, shards: 1 },
    });
    expect(await offsets()).toEqual(HEADS);
  });

  it('that was cut off before its offsets does not keep what is consumed from then on from being known', async () => {
    await commitOffsets();
    await consume({ 0: 4, 2: 3 });
    const unavailable = await managingWith(() => Promise.reject(new Error('unavailable')));
    await expect(unavailable.rewindTrigger({ trigger: 'bill_rider', to: 'start' })).rejects.toThrow('unavailable');
    const work = { datastore, deployed: deployed(DEFINITION), queues, store: state, report: () => undefined };
    await reportLag(work as unknown as TailWork, { context: store.context, stateTable });
    await consume({ 2: 6 });
    const marks = await state.consumed.read([0, 2]);
    expect([marks.get(0), marks.get(2)]).toMatchObject([
      { generation: 0, added_id: 0 },
      { generation: 0, added_id: 6 },
    ]);
  });

  it('moves the shards named and no other', async () => {
    await commitOffsets();
    await rewind({ 0: 1, 3: 0 });
    expect(await offsets()).toEqual([1, 0, 7, 0, 0, 0]);
    await rewind({ 0: 4 });
    expect(await offsets()).toEqual([4, 0, 7, 0, 0, 0]);
  });

  it.each<[string, Readonly<Record<number, number>>, string, string, string]>([
    ['past the end of a log', { 0: 4, 2: 8 }, 'invalid_field', 'to.2', 'from 0 to 7, where the log of shard 2 ends'],
    ['past the end of an empty log', { 1: 1 }, 'invalid_field', 'to.1', 'from 0 to 0'],
    ['below zero', { 0: -1 }, 'invalid_field', 'to.0', 'from 0 to 4'],
    ['of a shard that is not there', { 0: 1, [SHARDS]: 0 }, 'unknown_shard', `to.${SHARDS}`, `0 to ${SHARDS - 1}`],
  ])('%s is refused, and changes nothing', async (_what, shards, code, field, wanted) => {
    await commitOffsets();
    expect(await errorOf(() => rewind(shards))).toMatchObject({ code, field, wanted: expect.stringContaining(wanted) });
    expect(await offsets()).toEqual(HEADS);
    expect((await state.status()).rewound_at).toBeUndefined();
  });

  it('to a time to come is refused, and changes nothing', async () => {
    await commitOffsets();
    expect(await errorOf(() => rewind('2999-01-01T00:00:00Z'))).toMatchObject({ code: 'invalid_field', field: 'to' });
    expect(await offsets()).toEqual(HEADS);
  });
});

describe('parked cells', () => {
  beforeEach(async () => {
    await park(2, 5);
    await park(0, 3);
    await park(2, 1);
    await state.failed(messageOf(3, 2), 'Error: not yet', false);
    await state.parkMalformed({ message_id: 'm1', body: '{', error: 'no JSON' });
  });

  it('are counted, by shard and in all; those still tried apart', async () => {
    const { parked, malformed, failing, shards } = await trigger();
    expect({ parked, malformed, failing }).toEqual({ parked: 3, malformed: 1, failing: 1 });
    expect(shards.map((shard) => shard.parked)).toEqual([1, 0, 2, 0, 0, 0]);
    expect(shards.map((shard) => shard.failing)).toEqual([0, 0, 0, 1, 0, 0]);
    expect((await triggers.listTriggers()).triggers).toMatchObject([{ parked: 3 }, { parked: 0, malformed: 0 }]);
  });

  it('are listed with what happened to them', async () => {
    const { cells, malformed, next } = await triggers.listParkedCells({ trigger: 'bill_rider' });
    expect(cells.map(({ shard, added_id }) => `${shard}:${added_id}`)).toEqual(['0:3', '2:1', '2:5']);
    expect(cells[0]).toEqual({
      shard: 0,
      added_id: 3,
      row_key: ROW,
      column_name: 'BASE',
      ref_key: 1,
      created_at: '2026-01-31T08:00:00.000000Z',
      attempts: 1,
      first_failed_at: expect.any(String),
      last_failed_at: expect.any(String),
      last_error: 'Error: no money',
      parked_at: expect.any(String),
      round: 0,
      retry: null,
      retried_at: null,
    });
    expect(malformed).toMatchObject([{ message_id: 'm1', body: '{' }]);
    expect(next).toBeNull();
  });

  it('are sent again, or discarded: those named, or all with the messages that could not be read', async () => {
    const named = [
      { shard: 2, added_id: 5 },
      { shard: 3, added_id: 2 },
      { shard: 1, added_id: 9 },
    ];
    const those = { trigger: 'bill_rider', cells: named };
    const all = { trigger: 'bill_rider', cells: '*' } as const;
    expect(await triggers.retryParkedCells(those)).toEqual({ wanted: 1, not_parked: named.slice(1) });
    const wanted = async () =>
      (await triggers.listParkedCells({ trigger: 'bill_rider' })).cells.filter(({ retry }) => retry === 'wanted');
    expect(await wanted()).toMatchObject(named.slice(0, 1));
    expect(await triggers.retryParkedCells(all)).toEqual({ wanted: 3, not_parked: [] });
    expect(await wanted()).toHaveLength(3);
    expect(await triggers.discardParkedCells(those)).toEqual({ discarded: 1, not_parked: named.slice(1) });
    expect(await trigger()).toMatchObject({ parked: 2, malformed: 1, failing: 1 });
    for (const discarded of [3, 0]) expect(await triggers.discardParkedCells(all)).toMatchObject({ discarded });
    expect(await trigger()).toMatchObject({ parked: 0, malformed: 0, failing: 1 });
  });

  it('of a shard that is not there are refused', async () => {
    for (const call of [triggers.retryParkedCells, triggers.discardParkedCells]) {
      const cells = [
        { shard: 0, added_id: 3 },
        { shard: SHARDS, added_id: 1 },
      ];
      expect(await errorOf(() => call({ trigger: 'bill_rider', cells }))).toMatchObject({
        code: 'unknown_shard',
        field: 'cells[1].shard',
      });
    }
    expect((await triggers.listParkedCells({ trigger: 'bill_rider' })).cells).toHaveLength(3);
  });
});
