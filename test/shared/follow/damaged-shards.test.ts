import { afterEach, describe, expect, it } from 'vitest';
import { shareFetches } from '../../../shared/follow/read-log-entries.ts';
import { SqlError, type SqlClient, type Target } from '../../../shared/sql/client.ts';
import { connectionTo } from '../../support/connection-to.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';
import { type Deeds, follow, newDeeds, sharedFollowed, startWorker } from './support/followed-store.ts';
import { until } from '../../support/until.ts';

/** Of three groups: two pages of each. */
const SHARDS = 291;
const QUIET = { partitions: 1, pauses: { leastMs: 20, mostMs: 200 } };
const DAMAGED = 21;

/** The error for statements to this node that name the shard's table. */
let damage: { readonly target: Target; readonly error: () => SqlError } | undefined;
let naming: string[] = [];
const isOfPage = (sql: string): boolean => new Set(sql.match(/_\d{4}`\./gu)).size > 1;
const followed = await sharedFollowed(SHARDS, damaged);
const { headOf } = followed;
const topology = await followed.store.topology.datastore(followed.datastore);
const groupOf = (shard: number): string => topology?.homes[shard]?.group ?? '';
const ofGroup = Array.from({ length: SHARDS }, (_, shard) => shard).filter(
  (shard) => shard !== DAMAGED && groupOf(shard) === groupOf(DAMAGED),
);
/** Another two of its page, one of another page of its group, one of another group. */
const others: readonly number[] = [...ofGroup.slice(0, 2), ofGroup.at(-1) ?? -1, DAMAGED + 1];
afterEach(() => {
  damage = undefined;
});

function damaged(client: SqlClient): SqlClient {
  return {
    ...client,
    async select(statement, target) {
      if (statement.sql.includes(`_00${DAMAGED}\`.`)) {
        if (statement.sql.includes(' AS epoch, added_id, ')) naming.push(statement.sql);
        if (damage?.target === target) throw damage.error();
      }
      return client.select(statement, target);
    },
  };
}

const failedShards = (deeds: Deeds): number[] => deeds.eventsOf('shard_failed').map(({ shard }) => shard);

async function writeToOthers(cells: number): Promise<void> {
  for (const shard of others) await followed.write(shard, cells);
}

async function onWriter<T>(use: (query: (sql: string) => Promise<unknown>, table: string) => Promise<T>): Promise<T> {
  const connection = await connectionTo(groupOf(DAMAGED));
  try {
    return await use((sql) => connection.query(sql), `\`${followed.datastore}_00${DAMAGED}\`.entity`);
  } finally {
    await connection.end();
  }
}

describe('a shard that cannot be read', () => {
  it('waits alone, and goes on by itself once it can: its table is gone for a while', async () => {
    await followed.write(DAMAGED, 3);
    await writeToOthers(2);
    const { deeds, worker } = follow(followed, { ...QUIET, fetch: shareFetches() });
    await until(
      'all is handled',
      () => deeds.idsOf(DAMAGED).length === 3 && others.every((shard) => deeds.idsOf(shard).length === 2),
    );
    await onWriter(async (query, table) => {
      await query(`RENAME TABLE ${table} TO ${table}_away`);
      try {
        await until('it is told', () => failedShards(deeds).includes(DAMAGED));
        await writeToOthers(3);
        await until('the others are handled', () => others.every((shard) => deeds.idsOf(shard).length === 5));
        naming = [];
        await until('it is tried again', () => naming.length > 2);
        expect(failedShards(deeds)).toEqual([DAMAGED]);
        const lag = await followed.lag(deeds);
        expect(lag.flatMap(({ shard, head }) => (head === undefined ? [shard] : []))).toEqual([DAMAGED]);
      } finally {
        await query(`RENAME TABLE ${table}_away TO ${table}`);
      }
    });
    await followed.write(DAMAGED, 2);
    await until('it is handled again', () => deeds.idsOf(DAMAGED).length === 5);
    await worker.stop();
    for (const shard of [DAMAGED, ...others]) expect(deeds.idsOf(shard)).toEqual([1, 2, 3, 4, 5]);
  });

  it('keeps no other from beginning now', async () => {
    const before = await headOf(DAMAGED);
    damage = { target: 'writer', error: () => new SqlError('rejected', 'Table is marked as crashed', { errno: 1034 }) };
    const { deeds, worker } = follow(followed, { ...QUIET, read: 'writer', follower: { start: 'now' } });
    const begun = async (): Promise<number[]> =>
      (await followed.lag(deeds)).flatMap(({ shard, offset }) => (offset === undefined ? [] : [shard]));
    await until('the others have begun', async () => (await begun()).length >= (WRITER_ONLY ? SHARDS - 1 : SHARDS));
    damage = undefined;
    await until('it has begun', async () => (await begun()).length === SHARDS);
    await followed.write(DAMAGED, 1);
    await until('it is handled', () => deeds.idsOf(DAMAGED).length === 1);
    await worker.stop();
    expect(deeds.idsOf(DAMAGED)).toEqual([before + 1]);
  });

  it.skipIf(WRITER_ONLY)(
    'is read from the writer where a reader alone has its table damaged, and the others from the reader',
    async () => {
      const deeds = newDeeds();
      damage = {
        target: 'reader',
        error: () => new SqlError('rejected', 'Index for table is corrupt', { errno: 1034 }),
      };
      const worker = startWorker(followed, deeds, { ...QUIET });
      await followed.write(DAMAGED, 2);
      const all = await headOf(DAMAGED);
      await until('it is handled', () => deeds.idsOf(DAMAGED).length === all);
      await worker.stop();
      expect(failedShards(deeds)).toEqual([]);
    },
  );

  it('is asked for alone once it is known: its table is locked, which the others wait for once', async () => {
    const { deeds, worker } = follow(followed, { ...QUIET, read: 'writer' });
    await followed.caughtUp(deeds);
    await onWriter(async (query, table) => {
      await query(`LOCK TABLES ${table} WRITE`);
      // Another node may still show it: then no failure is reported.
      await until('it is asked for alone', () => naming.length > 0 && !isOfPage(naming.at(-1) ?? ''));
      naming = [];
      const counts = new Map(others.map((shard) => [shard, deeds.idsOf(shard).length]));
      await writeToOthers(1);
      await until('the others are handled', () =>
        others.every((shard) => deeds.idsOf(shard).length === (counts.get(shard) ?? 0) + 1),
      );
      await until('it is tried again', () => naming.length > 1);
      expect(naming.filter(isOfPage)).toEqual([]);
      await query('UNLOCK TABLES');
    });
    const before = deeds.idsOf(DAMAGED).length;
    await followed.write(DAMAGED, 1);
    await until('it is handled again', () => deeds.idsOf(DAMAGED).length === before + 1);
    await worker.stop();
  });
});

describe('cells that a handler cannot do', () => {
  it('keep back their own shard alone', async () => {
    const deeds = newDeeds();
    const state = { isBroken: true };
    const worker = startWorker(followed, deeds, {
      ...QUIET,
      first(cells) {
        if (state.isBroken && cells.some(({ shard }) => shard === DAMAGED)) throw new Error('no such row');
      },
    });
    await writeToOthers(1);
    const heads = new Map(await Promise.all(others.map(async (shard) => [shard, await headOf(shard)] as const)));
    await until('the others are handled', () =>
      others.every((shard) => deeds.idsOf(shard).length === heads.get(shard)),
    );
    expect(deeds.idsOf(DAMAGED)).toEqual([]);
    await until('it is told', () => failedShards(deeds).includes(DAMAGED));
    state.isBroken = false;
    const head = await headOf(DAMAGED);
    await until('they are handled', () => deeds.idsOf(DAMAGED).length === head);
    await worker.stop();
    expect(deeds.idsOf(DAMAGED)).toEqual(Array.from({ length: head }, (_, n) => n + 1));
  });

  it('keep back their own page alone while it takes its time', async () => {
    const deeds = newDeeds();
    const last = others[2] ?? -1;
    const hanging = Promise.withResolvers<void>();
    const worker = startWorker(followed, deeds, {
      ...QUIET,
      first: (cells) => (cells.some(({ shard }) => shard === DAMAGED) ? hanging.promise : undefined),
    });
    await followed.write(DAMAGED, 1);
    const head = await headOf(last);
    await until('another page is handled', () => deeds.idsOf(last).length === head);
    await followed.write(last, 2);
    await until('it is followed on', () => deeds.idsOf(last).length === head + 2);
    expect(deeds.idsOf(DAMAGED)).toEqual([]);
    hanging.resolve();
    const all = await headOf(DAMAGED);
    await until('its page is handled', () => deeds.idsOf(DAMAGED).length === all);
    await worker.stop();
    expect(deeds.idsOf(DAMAGED)).toEqual(Array.from({ length: all }, (_, n) => n + 1));
  });
});
