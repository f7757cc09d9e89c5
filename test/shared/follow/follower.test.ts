import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openFollower } from '../../../shared/follow/follower-item.ts';
import { committedOffsets, committedPlaces, followerLag } from '../../../shared/follow/follower-lag.ts';
import { followOnce } from '../../../shared/follow/follow-once.ts';
import type { LogPlace } from '../../../shared/follow/follower.ts';
import { offsetItems } from '../../../shared/follow/offset-items.ts';
import { forgetFollower, rewindFollower } from '../../../shared/follow/rewind-follower.ts';
import { readPlaces } from '../../../shared/follow/read-places.ts';
import { unread } from '../../../shared/follow/start-offsets.ts';
import { selectLogPlaces } from '../../../shared/sql/statements/select-log-places.ts';
import { faults } from '../../support/faulty-client.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';
import { openGate } from './support/gate.ts';
import {
  newDeeds,
  nameOf,
  openFollowedStore,
  startWorker,
  until,
  type Deeds,
  type FollowedStore,
} from './support/followed-store.ts';
import { rowsRead } from '../../support/rows-read.ts';

const SHARDS = 6;
const faulty = faults();
let followed: FollowedStore;

beforeAll(async () => {
  followed = await openFollowedStore(SHARDS, faulty.wrap);
  for (let shard = 0; shard < SHARDS; shard += 1) await followed.write(shard, 25);
});
afterAll(() => followed.close());

const caughtUp = (deeds: Deeds) =>
  until('everything is handled', async () => (await followed.stored()).every((cell) => deeds.names().has(cell)));
const idOf = ({ name }: Deeds) => ({ name, datastore: followed.datastore });

describe('a follower', () => {
  it('whose offsets are set back handles everything again as a replay, though its worker is idle', async () => {
    const deeds = newDeeds();
    const worker = startWorker(followed, deeds);
    await caughtUp(deeds);
    await until('committed', async () =>
      (await followerLag(followed.stateTable, followed.store.context, idOf(deeds))).every(
        ({ offset, head }) => offset === head,
      ),
    );
    const all = deeds.handled.length;
    await rewindFollower(followed.stateTable, followed.store.context, idOf(deeds), 'start');
    await until('everything is handled again', () => deeds.handled.length === 2 * all);
    expect(new Set(deeds.handled.slice(0, all).map(({ generation }) => generation))).toEqual(new Set([0]));
    expect(new Set(deeds.handled.slice(all).map(({ generation }) => generation))).toEqual(new Set([1]));
    await rewindFollower(followed.stateTable, followed.store.context, idOf(deeds), { shards: new Map([[2, 20]]) });
    await until('five cells of a shard are handled again', () => deeds.handled.length === 2 * all + 5);
    expect(
      deeds.handled.slice(2 * all).map(({ shard, added_id, generation }) => [shard, added_id, generation]),
    ).toEqual([21, 22, 23, 24, 25].map((id) => [2, id, 2]));
    await worker.stop();
    expect(await committedOffsets(followed.stateTable, idOf(deeds), SHARDS)).toEqual(
      Array.from({ length: SHARDS }, () => 25),
    );
    await expect(
      rewindFollower(followed.stateTable, followed.store.context, idOf(deeds), { shards: new Map([[2, 26]]) }),
    ).rejects.toThrow('wanted an added id from 0 to 25, where the log of shard 2 ends, got 26');
    await expect(
      rewindFollower(followed.stateTable, followed.store.context, idOf(deeds), { shards: new Map([[6, 0]]) }),
    ).rejects.toThrow('shard: wanted an integer from 0 to 5, got 6');
    await forgetFollower(followed.stateTable, idOf(deeds));
    expect(await committedOffsets(followed.stateTable, idOf(deeds), SHARDS)).toEqual(
      Array.from({ length: SHARDS }, () => undefined),
    );
  });

  it('ends once it is forgotten, and leaves nothing behind that a later one would begin with', async () => {
    const deeds = newDeeds();
    const worker = startWorker(followed, deeds);
    await caughtUp(deeds);
    await until('committed', async () =>
      (await followerLag(followed.stateTable, followed.store.context, idOf(deeds))).every(
        ({ offset, head }) => offset === head,
      ),
    );
    await forgetFollower(followed.stateTable, idOf(deeds));
    // It has nothing to commit, and ends all the same.
    await worker.ended;
    const busy = startWorker(followed, deeds);
    await until('it has begun', async () =>
      (await committedOffsets(followed.stateTable, idOf(deeds), SHARDS)).every((offset) => offset !== undefined),
    );
    await forgetFollower(followed.stateTable, idOf(deeds));
    await followed.write(1, 1);
    await busy.ended;
    const items = offsetItems(followed.stateTable, { ...idOf(deeds), shards: SHARDS, partitions: SHARDS });
    expect(await Promise.all(Array.from({ length: SHARDS }, (_, partition) => items.read(partition)))).toEqual(
      Array.from({ length: SHARDS }, () => undefined),
    );
  });

  it('does not read shards whose cells are not wanted now, and goes on with them when they are', async () => {
    const deeds = newDeeds();
    const stopAt = new Map([[1, 10]]);
    const worker = startWorker(followed, deeds, {
      follower: { wants: (shard, { added_id }) => added_id < (stopAt.get(shard) ?? Number.POSITIVE_INFINITY) },
    });
    const ids = (): number[] => deeds.handled.filter(({ shard }) => shard === 1).map(({ added_id }) => added_id);
    await until(
      'the others are handled',
      () => new Set(deeds.handled.map(({ shard }) => shard)).size === SHARDS && ids().length >= 10,
    );
    await sleep(200);
    expect(ids()).toHaveLength(10);
    stopAt.clear();
    await caughtUp(deeds);
    await worker.stop();
    expect(ids()).toEqual(ids().map((_, at) => at + 1));
  });

  it('goes on while DynamoDB is away, repeats nothing, and commits once it is back', async () => {
    const deeds = newDeeds();
    const worker = startWorker(followed, deeds);
    await caughtUp(deeds);
    worker.gate.state = 'away';
    await followed.write(0, 5);
    // Longer than the silence after which a worker counts as dead.
    await sleep(1500);
    await followed.write(1, 5);
    await caughtUp(deeds);
    expect(deeds.events.some(({ kind }) => kind === 'state_failed')).toBe(true);
    worker.gate.state = 'open';
    await followed.write(2, 5);
    await until('committed', async () =>
      (await followerLag(followed.stateTable, followed.store.context, idOf(deeds))).every(
        ({ offset, head }) => offset === head,
      ),
    );
    await worker.stop();
    expect(deeds.handled.map(nameOf)).toHaveLength(deeds.names().size);
    expect(deeds.events.filter(({ kind }) => kind === 'partition_lost')).toEqual([]);
  });

  it('lets the shards of a group that is away wait, and goes on with the others', async () => {
    const deeds = newDeeds();
    const worker = startWorker(followed, deeds);
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
    expect(deeds.events.filter(({ kind }) => kind === 'group_failed')).toMatchObject([{ group: 'group-2' }]);
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
            // What a server shows that was left behind with another end of the log.
            return left && target === 'reader' && statement.sql.includes('AS page')
              ? rows.map((row) => row.with(row.length - 1, '2020-01-01 00:00:00.000000'))
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
    expect(deeds.events.filter(({ kind }) => kind === 'cut')).toEqual([]);
  });

  it('gives cells again when its handler throws, and takes up where it said it was done', async () => {
    const deeds = newDeeds();
    const given: (readonly LogPlace[])[] = [];
    let calls = 0;
    const worker = startWorker(followed, deeds, {
      follower: {
        async handle(group, cells) {
          if (group !== 'group-1') return new Map(cells.map(({ shard, added_id }) => [shard, added_id]));
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
    expect(deeds.events.filter(({ kind }) => kind === 'handle_failed')).toHaveLength(1);
  });

  it('waits at a hole however long it lasts, and tells it', async () => {
    const deeds = newDeeds();
    let elapsed = 0;
    const client = await followed.groupOf(4);
    const move = (from: number, to: number) =>
      client.change({
        sql: `UPDATE \`${followed.datastore}_0004\`.entity SET added_id = ? WHERE added_id = ?`,
        parameters: [to, from],
      });
    await move(10, 1_000_000);
    const worker = startWorker(followed, deeds, {
      now: () => performance.now() + elapsed,
      heartbeat: { heartbeatMs: 100, silenceMs: 60_000 },
      read: 'writer',
    });
    const ofShard = (): number[] => deeds.handled.filter(({ shard }) => shard === 4).map(({ added_id }) => added_id);
    await until('it is at the hole', () => ofShard().length === 9);
    await sleep(200);
    expect(deeds.events.filter(({ kind }) => kind === 'hole')).toEqual([]);
    elapsed = 11_000;
    await until('told', () => deeds.events.some(({ kind }) => kind === 'hole'));
    await sleep(100);
    expect(deeds.events.filter(({ kind }) => kind === 'hole')).toMatchObject([{ shard: 4, added_id: 10, seconds: 11 }]);
    expect(ofShard()).toHaveLength(9);
    await move(1_000_000, 10);
    await until('it goes on', () => ofShard().length >= 25);
    await worker.stop();
    expect(ofShard()).toEqual(ofShard().map((_, at) => at + 1));
  });

  it('begins where its start says, wants the columns it names, and keeps to its number of partitions', async () => {
    await followed.write(3, 4, 'NOTES');
    const deeds = newDeeds();
    await expect(openFollower(followed.stateTable, idOf(deeds), SHARDS, 7)).rejects.toThrow(
      'wanted an integer from 1 to 6, got 7',
    );
    const worker = startWorker(followed, deeds, { partitions: 2, follower: { start: 'now', columns: ['BASE'] } });
    await until('begun', async () =>
      (await committedOffsets(followed.stateTable, idOf(deeds), SHARDS)).every((offset) => offset !== undefined),
    );
    const begun = await committedOffsets(followed.stateTable, idOf(deeds), SHARDS);
    await followed.write(3, 4, 'NOTES');
    await followed.write(3, 2);
    await until('handled', () => deeds.handled.length === 2);
    await followed.write(3, 3, 'NOTES');
    await followed.write(2, 3, 'NOTES');
    const places = (): ReturnType<typeof committedPlaces> => committedPlaces(followed.stateTable, idOf(deeds), SHARDS);
    await until('the others are passed', async () => {
      const [, , second, third] = await places();
      return third?.added_id === (deeds.handled[1]?.added_id ?? 0) + 3 && second?.added_id === (begun[2] ?? 0) + 3;
    });
    await worker.stop();
    expect(deeds.handled.map(({ column_name }) => column_name)).toEqual(['BASE', 'BASE']);
    // What comes after the last one that it wanted is known to be none of its own.
    expect((await places()).map((place) => place?.given)).toEqual(
      Array.from({ length: SHARDS }, (_, shard) => (shard === 3 ? deeds.handled[1]?.added_id : begun[shard])),
    );
    expect(await openFollower(followed.stateTable, idOf(deeds), SHARDS, 3)).toMatchObject({ partitions: 2 });
    const lag = await followerLag(followed.stateTable, followed.store.context, idOf(deeds));
    expect(lag.map(({ offset }) => offset)).toEqual(lag.map(({ head }) => head));
  });

  it('is run to the end once, without leases', async () => {
    const handled: LogPlace[] = [];
    const progress: [number, number][] = [];
    await followOnce({
      context: followed.store.context,
      read: 'reader',
      pageCells: 7,
      progress: (done, all) => progress.push([done, all]),
      follower: {
        name: 'once',
        datastore: followed.datastore,
        start: 'start',
        async handle(_group, cells) {
          handled.push(...cells);
          return new Map(cells.map(({ shard, added_id }) => [shard, added_id]));
        },
      },
    });
    const stored = await followed.stored();
    expect(handled.map(nameOf).sort()).toEqual(stored.sort());
    expect(progress.at(-1)).toEqual([stored.length, stored.length]);
  });
});

describe('reading places', () => {
  it('begins at the offset, ends where it should, and says how far the log goes', async () => {
    const { context } = followed.store;
    const group = (await context.topology.datastore(followed.datastore))?.places[0]?.group ?? '';
    const read = async (at: number, to?: number) => {
      const { logs } = await readPlaces(
        context,
        group,
        { datastore: followed.datastore, limit: 10, read: 'writer', withHead: true },
        [{ shard: 0, offset: unread(at), ...(to === undefined ? {} : { to }) }],
      );
      return logs[0];
    };
    const { length: head } = (await followed.stored()).filter((cell) => cell.startsWith('0/'));
    expect(await read(5, 5)).toMatchObject({ state: 'whole', places: [], full: false, head });
    expect((await read(5, 7))?.places.map(({ added_id }) => added_id)).toEqual([6, 7]);
    expect((await read(5))?.places.map(({ added_id }) => added_id)).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    expect(await read(0, 1)).toMatchObject({ places: [{ added_id: 1 }], head });
    expect(await read(1000)).toMatchObject({ state: 'missing', head: undefined });
  });

  it('reads a page and no more of a shard, however long its log is', async () => {
    await followed.write(5, 1000);
    const group = (await followed.store.topology.datastore(followed.datastore))?.places[5]?.group;
    const address = inject('servers').groups.find(({ name }) => name === group);
    const connection = await createConnection({
      host: address?.writer.host ?? '',
      port: address?.writer.port ?? 0,
      user: address?.user ?? '',
      password: address?.password ?? '',
    });
    const readOf = (limit: number, to?: number): Promise<number> =>
      rowsRead(
        connection,
        selectLogPlaces(followed.datastore, [{ shard: 5, at: 0, ...(to === undefined ? {} : { to }) }], {
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
