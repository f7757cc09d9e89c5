import { setTimeout as sleep } from 'node:timers/promises';
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import { bellTower, type BellTower } from '../../../shared/follow/bells.ts';
import type { Pauses } from '../../../shared/follow/pace.ts';
import type { FollowerRun } from '../../../shared/follow/run-follower.ts';
import { shareFetches } from '../../../shared/follow/share-fetches.ts';
import { slowLooksOf } from '../../../shared/follow/slow-looks.ts';
import type { StoreContext } from '../../../shared/access/context.ts';
import { erasureAddress, type ErasureTarget } from '../../../shared/address.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import { appendToPrimary } from '../../../shared/store/append.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { change, select } from '../../support/plain-sql.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';
import { newDeeds, sharedFollowed, startWorker, type Deeds } from './support/followed-store.ts';
import { TIMED } from '../../support/timed.ts';
import { until } from '../../support/until.ts';
import { triggerNamed } from '../../support/trigger-named.ts';

const SHARDS = 24;
const PAUSES: Pauses = { leastMs: 5, mostMs: 100 };
/** Longer than a look at the bells on a busy machine, and shorter than until a shard that did not ring is looked at. */
const SOON_MS = 6000;
/** The same, where nothing is to come. */
const NOTHING_MS = 3000;
let bells: BellTower;
/** What followers ask the groups. */
let asked: string[] = [];
/** No ring arrives. */
let isMute = false;

const isRing = (sql: string): boolean => sql.startsWith('INSERT INTO `schemaless`.bell ');

function watched(client: SqlClient): SqlClient {
  const { transactions } = client;
  return {
    ...client,
    select: (statement, target) => (asked.push(statement.sql), client.select(statement, target)),
    change: (statement) =>
      isMute && isRing(statement.sql) ? Promise.reject(new Error('mute')) : client.change(statement),
    ...(transactions && {
      transactions: {
        ...transactions,
        run: async (statements) =>
          isMute && statements.some(({ sql }) => isRing(sql))
            ? [
                ...(await transactions.run(statements.filter(({ sql }) => !isRing(sql)))),
                { affectedRows: 1, insertId: 1 },
              ]
            : transactions.run(statements),
      },
    }),
  };
}

const followed = await sharedFollowed(SHARDS, watched, [
  {
    definition: triggerNamed('heard', { columns: ['BASE'] }),
    queueUrl: 'http://127.0.0.1:1/queue',
    parkedQueueUrl: 'http://127.0.0.1:1/parked',
  },
]);
beforeEach(() => {
  isMute = false;
  bells = bellTower(followed.store.context, { read: () => 'reader' });
});

/** A worker that has read all shards, so that nothing but a ring, or the slow look, makes it read one again. */
async function heardBy(run: Partial<Pick<FollowerRun, 'bells'>>): Promise<{ deeds: Deeds; stop: () => Promise<void> }> {
  const deeds = newDeeds();
  const worker = startWorker(followed, deeds, { ...run, pauses: PAUSES });
  await until('all that is there is handled', async () => deeds.names().size === (await followed.stored()).length);
  await sleep(2000);
  return { deeds, stop: () => worker.stop() };
}

/** Until all shards were looked at a moment ago, which is done again in ten seconds. */
async function lookedAt(pauses: Pauses = PAUSES): Promise<void> {
  const lookAt = slowLooksOf(pauses);
  // Of so few it is the same moment for all.
  const since = (): number => performance.now() - lookAt(0, SHARDS, performance.now());
  while (since() < 300 || since() > 1000) await sleep(50);
}

describe('what is heard of bells', () => {
  /** Numbers as a node shows them, one look after another; the last one again and again. */
  const heardOf = async (...looks: readonly (readonly number[])[]): Promise<number[]> => {
    const heard: number[] = [];
    let look = 0;
    const select: SqlClient['select'] = async ({ parameters: [after = 0, ...late] }) => {
      const shown = looks[Math.min(look, looks.length - 1)] ?? [];
      look += 1;
      const rows = shown
        .filter((id) => id > Number(after) || late.map(Number).includes(id))
        .map((id) => [String(id), 'trips', Buffer.from([0, id % 256])]);
      return [...rows, [String(Math.max(0, ...shown)), null, null]];
    };
    const client = { abilities: { hasBells: true, readsFromReaders: true }, nodes: 2, select } as unknown as SqlClient;
    const context = { groups: { client: async () => client } } as unknown as StoreContext;
    const listening = bellTower(context, { read: () => 'reader', pauses: { leastMs: 1, mostMs: 1 } })
      .of('group-1')
      .listen('trips', (shards) => heard.push(...shards));
    await until('all looks are over', () => look > looks.length + 3);
    listening.stop();
    return heard;
  };

  it('is each ring once, and none of before', async () => {
    expect(await heardOf([1, 2], [1, 2, 3], [1, 2, 3, 4, 5])).toEqual([3, 4, 5]);
  });

  it('is also a ring whose number was left out, once it is visible', async () => {
    expect(await heardOf([1], [1, 4], [1, 4, 5], [1, 3, 4, 5], [1, 2, 3, 4, 5])).toEqual([4, 5, 3, 2]);
  });

  it('goes on with lower numbers, of another node or a promoted one', async () => {
    const heard = await heardOf([500], [500, 501], [401], [401, 402], [401, 402, 403]);
    expect(heard).toEqual(expect.arrayContaining([501 % 256, 402 % 256, 403 % 256]));
  });
});

describe.skipIf(WRITER_ONLY)('bells', () => {
  it(
    'bring cells of shards at rest at once, of single puts, batches, and appends that go by themselves',
    TIMED,
    async () => {
      const { deeds, stop } = await heardBy({ bells });
      await lookedAt();
      const before = deeds.handled.length;
      await followed.write(3, 1);
      await until('the first is there', () => deeds.handled.length === before + 1, { patienceMs: SOON_MS });
      await Promise.all(Array.from({ length: SHARDS }, (_, shard) => followed.write(shard, 20)));
      await until('all are there', () => deeds.handled.length >= before + 1 + 20 * SHARDS, { patienceMs: SOON_MS });
      expect(deeds.names().size, 'each once').toBe(deeds.handled.length);
      // Too large to share a transaction, and so to ring in one.
      const handled = deeds.handled.length;
      await sleep(3000);
      const [row_key = ''] = rowsOfShard(7, SHARDS, 1);
      await followed.trips.put(cellOf({ row_key, ref_key: 1_000_000, body: randomBytes(400 * 1024).toString('hex') }));
      await until('the large one is there', () => deeds.handled.length === handled + 1, { patienceMs: SOON_MS });
      await stop();
    },
  );

  it('bring them between two passes, however far apart those are', TIMED, async () => {
    await followed.write(0, 1);
    const deeds = newDeeds();
    const worker = startWorker(followed, deeds, { bells, pauses: { leastMs: 15_000, mostMs: 15_000 } });
    await until('a pass has read all', async () => deeds.names().size === (await followed.stored()).length);
    const before = deeds.names().size;
    await followed.write(3, 1);
    await followed.write(SHARDS - 1, 1);
    await until('both are handled', () => deeds.names().size === before + 2, { patienceMs: SOON_MS });
    expect(deeds.handled.length, 'each once').toBe(deeds.names().size);
    await worker.stop();
  });

  it('ring for the columns that a trigger wants, and for what is erased of them', async () => {
    const client = await followed.groupOf(5);
    const [row_key = ''] = rowsOfShard(5, SHARDS, 1);
    /** Whether it rings. */
    const rings = async (append: () => Promise<unknown>): Promise<boolean> => {
      const newest = async (): Promise<number> =>
        Number(
          (
            await select(
              client,
              'SELECT COALESCE(MAX(id), 0) FROM schemaless.bell WHERE datastore = ?',
              followed.datastore,
            )
          )[0]?.[0],
        );
      const before = await newest();
      await append();
      return (await newest()) > before;
    };
    const put = (...columns: readonly string[]) =>
      followed.trips.batchPut(
        columns.map((column_name) => cellOf({ row_key, column_name, ref_key: 2_000_000, body: 1 })),
      );
    const erase = (target: Omit<ErasureTarget, 'row_key'>) =>
      appendToPrimary(followed.store.context, followed.datastore, 5, [
        { ...erasureAddress({ row_key, ...target }), body: {}, encoded: encodeBody({}) },
      ]);
    expect(await rings(() => put('NOTES'))).toBe(false);
    expect(await rings(() => put('STATUS', 'BASE'))).toBe(true);
    // Of what is not there: nothing else is to come of it.
    expect(await rings(() => erase({ column_name: 'NOTES', ref_key: 2_000_001 }))).toBe(false);
    expect(await rings(() => erase({ column_name: 'BASE', ref_key: 2_000_001 }))).toBe(true);
  });

  it('do not ring for other columns, which the slow look finds', async () => {
    const { deeds, stop } = await heardBy({ bells });
    await lookedAt();
    const before = deeds.handled.length;
    await followed.write(5, 3, 'NOTES');
    await sleep(NOTHING_MS);
    expect(deeds.handled.length, 'nobody heard of it').toBe(before);
    await until('they are found', () => deeds.handled.length === before + 3);
    await stop();
  });

  it('leave a shard at rest that others write to all the time: who wants other columns passes over its cells', async () => {
    const deeds = newDeeds();
    const worker = startWorker(followed, deeds, {
      bells,
      pauses: PAUSES,
      follower: { columns: ['BASE'], start: 'now' },
    });
    const written = (async () => {
      for (let cell = 0; cell < 160; cell += 1) {
        await followed.write(5, 1, 'NOTES');
        await sleep(100);
      }
    })();
    // Until a slow look has found some, which is no reason to look again soon.
    await sleep(11_000);
    asked = [];
    await sleep(5000);
    expect(asked.filter((sql) => sql.includes('entity')).length).toBeLessThan(40);
    await written;
    // It did pass over them.
    const passed = deeds.commits.filter(({ key }) => key.endsWith('#5')).map(({ offsets: [offset = 0] }) => offset);
    expect(Math.max(...passed)).toBeGreaterThan(Math.min(...passed) + 20);
    await worker.stop();
  });

  it('that are lost cost a slow look at the log, and no cell', async () => {
    const { deeds, stop } = await heardBy({ bells });
    await lookedAt();
    const before = deeds.handled.length;
    isMute = true;
    await followed.write(5, 1);
    await sleep(NOTHING_MS);
    expect(deeds.handled.length, 'nobody heard of it').toBe(before);
    await until('it is found', () => deeds.handled.length === before + 1);
    await stop();
  });

  it('let a store at rest be: a tenth of the statements that looking takes', async () => {
    /** Until there were so many, or for as long as that took without bells. */
    const countOf = async (run: Partial<Pick<FollowerRun, 'bells'>>, isOver: (count: number) => boolean) => {
      const { stop } = await heardBy(run);
      asked = [];
      const begun = performance.now();
      const count = (): number => asked.filter((sql) => sql.includes('entity')).length;
      await until('it was counted for long enough', () => isOver(count()));
      const counted = { count: count(), ms: performance.now() - begun };
      await stop();
      return counted;
    };
    const { count: without, ms } = await countOf({}, (count) => count >= 120);
    const end = { at: Number.POSITIVE_INFINITY };
    const { count } = await countOf({ bells }, () => {
      end.at = Math.min(end.at, performance.now() + ms);
      return performance.now() >= end.at;
    });
    expect(count).toBeLessThan(without / 10);
  });

  it('let followers that are equally far share the slow looks, too', async () => {
    const fetch = shareFetches();
    const pauses = { leastMs: 50, mostMs: 400, aligned: true };
    const followers = [newDeeds(), newDeeds()].map((deeds) => ({
      deeds,
      worker: startWorker(followed, deeds, { bells, fetch, pauses }),
    }));
    for (const { deeds } of followers) await followed.caughtUp(deeds);
    await sleep(2000);
    await lookedAt(pauses);
    asked = [];
    await sleep(10_500);
    // A statement for each group; for each follower by itself it would be twice as many.
    expect(asked.filter((sql) => sql.includes(' AS epoch, added_id, '))).toHaveLength(inject('servers').groups.length);
    await Promise.all(followers.map(({ worker }) => worker.stop()));
  });

  it('are few: old rings are taken away', async () => {
    const client = await followed.groupOf(0);
    const rows = async (): Promise<number> =>
      Number((await select(client, 'SELECT COUNT(*) FROM schemaless.bell'))[0]?.[0]);
    await change(
      client,
      `INSERT INTO schemaless.bell (datastore, shards) SELECT 'none', X'0000' FROM (${'SELECT 1 UNION ALL '.repeat(99)}SELECT 1) AS a CROSS JOIN (${'SELECT 1 UNION ALL '.repeat(199)}SELECT 1) AS b`,
    );
    const before = await rows();
    expect(before).toBeGreaterThan(15_000);
    await until('old ones go', async () => {
      await Promise.all(Array.from({ length: SHARDS }, (_, shard) => followed.write(shard, 1)));
      return (await rows()) < before - 400;
    });
  });
});
