import { describe, expect, it } from 'vitest';
import { openFollower } from '../../../shared/follow/follower-item.ts';
import { committedLocations } from '../../../shared/follow/follower-lag.ts';
import { OffsetItems } from '../../../shared/follow/offset-items.ts';
import type { LogEntry } from '../../../shared/follow/follower.ts';
import { forgetFollower, rewindLocations, setLocations } from '../../../shared/follow/rewind-follower.ts';
import { readLogEntries } from '../../../shared/follow/read-log-entries.ts';
import { unread } from '../../../shared/follow/start-offsets.ts';
import { selectLogEntries } from '../../../shared/sql/statements/select-log-entries.ts';
import { faults } from '../../support/faulty-client.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';
import { openGate } from './support/gate.ts';
import {
  type Deeds,
  doneWith,
  follow,
  movedClock,
  newDeeds,
  sharedFollowed,
  startWorker,
} from './support/followed-store.ts';
import { until } from '../../support/until.ts';
import { connectionTo } from '../../support/connection-to.ts';
import { rowsRead } from '../../support/rows-read.ts';

const SHARDS = 6;
const faulty = faults();
const followed = await sharedFollowed(SHARDS, faulty.wrap);
for (let shard = 0; shard < SHARDS; shard += 1) await followed.write(shard, 25);

const { caughtUp, idOf, stateTable } = followed;
const { context } = followed.store;
const committed = (deeds: Deeds) =>
  until('committed', async () => (await followed.lag(deeds)).every(({ offset, head }) => offset === head));
const rewind = async (deeds: Deeds, to: Parameters<typeof rewindLocations>[2]): Promise<void> =>
  setLocations(stateTable, context, idOf(deeds), await rewindLocations(context, followed.datastore, to));
const inEachShard = <T>(value: T): T[] => Array.from({ length: SHARDS }, () => value);

describe('a follower', () => {
  it('whose offsets are rewound handles everything again as a replay, though its worker is idle', async () => {
    const { deeds, worker } = follow(followed);
    await caughtUp(deeds);
    await committed(deeds);
    const all = deeds.handled.length;
    await rewind(deeds, 'start');
    await until('everything is handled again', () => deeds.handled.length === 2 * all);
    expect(new Set(deeds.handled.slice(0, all).map(({ generation }) => generation))).toEqual(new Set([0]));
    expect(new Set(deeds.handled.slice(all).map(({ generation }) => generation))).toEqual(new Set([1]));
    await rewind(deeds, { shards: new Map([[2, 20]]) });
    await until('five cells of a shard are handled again', () => deeds.handled.length === 2 * all + 5);
    expect(
      deeds.handled.slice(2 * all).map(({ shard, added_id, generation }) => [shard, added_id, generation]),
    ).toEqual([21, 22, 23, 24, 25].map((id) => [2, id, 2]));
    await worker.stop();
    expect(await followed.offsets(deeds)).toEqual(inEachShard(25));
    await forgetFollower(stateTable, idOf(deeds));
    expect(await followed.offsets(deeds)).toEqual(inEachShard(undefined));
  });

  it('ends once it is forgotten, and leaves nothing behind that a later one would begin with', async () => {
    const { deeds, worker } = follow(followed);
    await caughtUp(deeds);
    await committed(deeds);
    await forgetFollower(stateTable, idOf(deeds));
    await worker.ended;
    const busy = startWorker(followed, deeds);
    await followed.begun(deeds);
    await forgetFollower(stateTable, idOf(deeds));
    await followed.write(1, 1);
    await busy.ended;
    const items = new OffsetItems(stateTable, { ...idOf(deeds), shards: SHARDS, partitions: SHARDS });
    expect(await Promise.all(Array.from({ length: SHARDS }, (_, partition) => items.read(partition)))).toEqual(
      inEachShard(undefined),
    );
  });

  it('does not read shards whose cells are not wanted now, and goes on with them when they are', async () => {
    const deeds = newDeeds();
    const stopAt = new Map([[1, 10]]);
    let declined = 0;
    const worker = startWorker(followed, deeds, {
      follower: {
        wants(shard, { added_id }) {
          const isWanted = added_id < (stopAt.get(shard) ?? Number.POSITIVE_INFINITY);
          if (!isWanted) declined += 1;
          return isWanted;
        },
      },
    });
    const ids = (): number[] => deeds.idsOf(1);
    await until(
      'the others are handled',
      () => new Set(deeds.handled.map(({ shard }) => shard)).size === SHARDS && ids().length >= 10,
    );
    declined = 0;
    await until('it was asked again and again', () => declined > 3);
    expect(ids()).toHaveLength(10);
    stopAt.clear();
    await caughtUp(deeds);
    await worker.stop();
    expect(ids()).toEqual(ids().map((_, at) => at + 1));
  });

  it('lets the shards of an unavailable group wait, and goes on with the others', async () => {
    const { deeds, worker } = follow(followed);
    await caughtUp(deeds);
    faulty.behaviours.set('group-2', 'down');
    const from = deeds.handled.length;
    await followed.write(0, 3);
    await followed.write(2, 3);
    await until('the others are handled', () => deeds.handled.length === from + 6);
    faulty.behaviours.clear();
    await followed.write(1, 3);
    await caughtUp(deeds);
    await worker.stop();
    expect(deeds.eventsOf('group_failed')).toMatchObject([{ group: 'group-2' }]);
  });

  it.skipIf(WRITER_ONLY)('reads the writer where a reader shows another cell than the writer has', async () => {
    const deeds = newDeeds();
    const gate = openGate();
    let left = false;
    const worker = startWorker(followed, deeds, {
      gate: {
        ...gate,
        sql: (client) => ({
          ...client,
          async select(statement, target) {
            const rows = await client.select(statement, target);
            // As shown by a server that was left behind with another end of the log.
            return left && target === 'reader' && statement.sql.includes(' AS epoch, added_id, ')
              ? rows.map((row) => row.with(6, '2020-01-01 00:00:00.000000'))
              : rows;
          },
        }),
      },
    });
    await caughtUp(deeds);
    left = true;
    for (let shard = 0; shard < SHARDS; shard += 1) await followed.write(shard, 3);
    await caughtUp(deeds);
    await worker.stop();
    expect(new Set(deeds.events.flatMap((event) => (event.kind === 'reader_differs' ? [event.shard] : []))).size).toBe(
      SHARDS,
    );
    expect(deeds.eventsOf('cut')).toEqual([]);
  });

  it('gives cells again when its handler throws, and takes up where it said it was done', async () => {
    const deeds = newDeeds();
    const given: (readonly LogEntry[])[] = [];
    let calls = 0;
    const worker = startWorker(followed, deeds, {
      follower: {
        async handle(group, cells) {
          if (group !== 'group-1') return doneWith(cells);
          calls += 1;
          if (calls === 2) throw new Error('no');
          const shard0 = cells.filter(({ shard }) => shard === 0);
          given.push(shard0);
          const third = shard0[2] ?? shard0.at(-1);
          return new Map(third ? [[0, third.added_id]] : []);
        },
      },
    });
    const { length: stored } = (await followed.stored()).filter((cell) => cell.startsWith('0/'));
    await until('three at a time', () => given.flat().some(({ added_id }) => added_id === stored));
    await worker.stop();
    const firsts = given.filter((cells) => cells.length > 0).map(([first]) => first?.added_id);
    expect(firsts).toEqual(firsts.map((_, at) => 1 + 3 * at));
    expect(deeds.eventsOf('handle_failed')).toHaveLength(1);
  });

  it('waits at a hole however long it lasts, and tells it', async () => {
    const deeds = newDeeds();
    const clock = movedClock();
    const move = (from: number, to: number) =>
      followed.change(4, 'UPDATE ENTITY SET added_id = ? WHERE added_id = ?', to, from);
    await move(10, 1_000_000);
    const worker = startWorker(followed, deeds, {
      now: clock.now,
      heartbeat: { heartbeatMs: 100, silenceMs: 60_000 },
      read: 'writer',
    });
    const ofShard = (): number[] => deeds.idsOf(4);
    await until('it is at the hole', () => ofShard().length === 9);
    clock.pass(11_000);
    await until('told', () => deeds.eventsOf('hole').length > 0);
    clock.pass(11_000);
    const { length } = deeds.handled;
    await followed.write(3, 1);
    await until('it polled again', () => deeds.handled.length > length);
    expect(deeds.eventsOf('hole')).toMatchObject([{ shard: 4, added_id: 10 }]);
    expect(deeds.eventsOf('hole')[0]?.seconds).toBeGreaterThanOrEqual(10);
    expect(ofShard()).toHaveLength(9);
    await move(1_000_000, 10);
    await until('it goes on', () => ofShard().length >= 25);
    await worker.stop();
    expect(ofShard()).toEqual(ofShard().map((_, at) => at + 1));
  });

  it('begins where its start says, wants the columns it names, and keeps to its number of partitions', async () => {
    await followed.write(3, 4, 'NOTES');
    const deeds = newDeeds();
    await expect(openFollower(stateTable, idOf(deeds), SHARDS, 7)).rejects.toThrow(
      'wanted an integer from 1 to 6, got 7',
    );
    const worker = startWorker(followed, deeds, { partitions: 2, follower: { start: 'now', columns: ['BASE'] } });
    await followed.begun(deeds);
    const begun = await followed.offsets(deeds);
    await followed.write(3, 4, 'NOTES');
    await followed.write(3, 2);
    await until('handled', () => deeds.handled.length === 2);
    await followed.write(3, 3, 'NOTES');
    await followed.write(2, 3, 'NOTES');
    const locations = (): ReturnType<typeof committedLocations> => committedLocations(stateTable, idOf(deeds), SHARDS);
    await until('the others are passed', async () => {
      const [, , second, third] = await locations();
      return third?.added_id === (deeds.handled[1]?.added_id ?? 0) + 3 && second?.added_id === (begun[2] ?? 0) + 3;
    });
    await worker.stop();
    expect(deeds.handled.map(({ column_name }) => column_name)).toEqual(['BASE', 'BASE']);
    expect((await locations()).map((location) => location?.given)).toEqual(
      Array.from({ length: SHARDS }, (_, shard) => (shard === 3 ? deeds.handled[1]?.added_id : begun[shard])),
    );
    expect(await openFollower(stateTable, idOf(deeds), SHARDS, 3)).toMatchObject({ partitions: 2 });
    const lag = await followed.lag(deeds);
    expect(lag.map(({ offset }) => offset)).toEqual(lag.map(({ head }) => head));
  });
});

describe('reading places', () => {
  it('begins at the offset, ends where it should, and says how far the log goes', async () => {
    const group = (await context.topology.datastore(followed.datastore))?.homes[0]?.group ?? '';
    const read = async (at: number, to?: number) => {
      const { logs } = await readLogEntries(
        context,
        group,
        { datastore: followed.datastore, limit: 10, read: 'writer', withHead: true },
        [{ shard: 0, offset: unread(at), ...(to === undefined ? {} : { to }) }],
      );
      return logs[0];
    };
    const { length: head } = (await followed.stored()).filter((cell) => cell.startsWith('0/'));
    expect(await read(5, 5)).toMatchObject({ state: 'whole', entries: [], full: false, head });
    expect((await read(5, 7))?.entries.map(({ added_id }) => added_id)).toEqual([6, 7]);
    expect((await read(5))?.entries.map(({ added_id }) => added_id)).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    expect(await read(0, 1)).toMatchObject({ entries: [{ added_id: 1 }], head });
    expect(await read(1000)).toMatchObject({ state: 'missing', head: undefined });
  });

  it('reads a page and no more of a shard, however long its log is', async () => {
    await followed.write(5, 1000);
    const connection = await connectionTo(
      (await followed.store.topology.datastore(followed.datastore))?.homes[5]?.group,
    );
    const readOf = (limit: number, to?: number): Promise<number> =>
      rowsRead(
        connection,
        selectLogEntries(followed.datastore, [{ shard: 5, at: 0, ...(to === undefined ? {} : { to }) }], {
          limit,
          withHead: true,
        }),
      );
    expect(await readOf(20)).toBeLessThan(20 * 3 + 20);
    expect(await readOf(1000, 20)).toBeLessThan(20 * 3 + 20);
    expect(await readOf(1000)).toBeGreaterThan(1000);
    await connection.end();
  });
});
