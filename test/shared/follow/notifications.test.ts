import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import { openNotifiers, type Notifiers } from '../../../shared/follow/notifications.ts';
import type { Pauses } from '../../../shared/follow/pace.ts';
import type { StoreContext } from '../../../shared/access/context.ts';
import { erasureAddress, type ErasureTarget } from '../../../shared/address.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import { appendToPrimary } from '../../../shared/store/append.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { change, select } from '../../support/plain-sql.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';
import { newDeeds, sharedFollowed, startWorker, type Deeds } from './support/followed-store.ts';
import { until } from '../../support/until.ts';
import { triggerNamed } from '../../support/trigger-named.ts';

const SHARDS = 24;
const PAUSES: Pauses = { leastMs: 5, mostMs: 100 };
const SLOW_MS = 10_000;
/** Less than the slow poll interval, and longer than a worker expects more of a notified shard. */
const SOON_MS = 5000;
let notifications: Notifiers;
/** The clock of the workers and the notifiers, which only tests move. */
let clockMs = 0;
const now = (): number => clockMs;
let read: string[] = [];
let isMute = false;

const isNotification = (sql: string): boolean => sql.startsWith('INSERT INTO `schemaless`.notification ');

function watched(client: SqlClient): SqlClient {
  const { transactions } = client;
  return {
    ...client,
    async select(statement, target) {
      const rows = await client.select(statement, target);
      if (statement.sql.includes(' AS epoch, added_id, ')) read.push(statement.sql);
      return rows;
    },
    // Lost, not refused: after a refusal none is sent for half a minute.
    change: async (statement) =>
      isMute && isNotification(statement.sql) ? { affectedRows: 1, insertId: 1 } : client.change(statement),
    ...(transactions && {
      transactions: {
        ...transactions,
        run: async (statements) =>
          isMute && statements.some(({ sql }) => isNotification(sql))
            ? [
                ...(await transactions.run(statements.filter(({ sql }) => !isNotification(sql)))),
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
const GROUPS = inject('servers').groups.length;
beforeEach(() => {
  isMute = false;
  notifications = openNotifiers(followed.store.context, { read: () => 'reader', now });
});

/** Waits while at most `mostMs` of the workers' time passes. */
function whilePassing(what: string, isSo: () => boolean | Promise<boolean>, mostMs = SOON_MS): Promise<void> {
  const end = clockMs + mostMs;
  return until(what, async () => {
    if (await isSo()) return true;
    clockMs = Math.min(end, clockMs + (mostMs > SOON_MS ? 200 : 50));
    return false;
  });
}

/**
 * Moves the clock until all shards are due for a slow poll and no more is expected of notified ones. Waits until they
 * are read.
 */
async function slowPoll(): Promise<void> {
  read = [];
  clockMs = Math.ceil((clockMs + 3000) / SLOW_MS) * SLOW_MS;
  await until('all groups are read', () => read.length >= GROUPS);
}

/** Starts a worker that hears all groups and has just read all shards: only a notification makes it read one soon. */
async function heardBy(deeds: Deeds): Promise<() => Promise<void>> {
  const listening = Array.from({ length: GROUPS }, (_, group) =>
    notifications.of(`group-${group + 1}`).listen(followed.datastore, () => undefined),
  );
  await until('the notifications are heard', () => listening.every((one) => one.since() !== undefined));
  // The worker reads all shards only once it has begun, which its first cell shows.
  await followed.write(0, 1);
  const worker = startWorker(followed, deeds, { notifications, pauses: PAUSES, now });
  await whilePassing(
    'all that is there is handled',
    async () => deeds.names().size === (await followed.stored()).length,
    Number.POSITIVE_INFINITY,
  );
  await slowPoll();
  return async () => {
    for (const one of listening) one.stop();
    await worker.stop();
  };
}

describe('the heard notifications', () => {
  /** @param msAPoll milliseconds between polls */
  const heardOf = async (polls: readonly (readonly number[])[], msAPoll = 0): Promise<number[]> => {
    const heard: number[] = [];
    let poll = 0;
    const select: SqlClient['select'] = async ({ parameters: [after = 0, ...late] }) => {
      const shown = polls[Math.min(poll, polls.length - 1)] ?? [];
      poll += 1;
      const rows = shown
        .filter((id) => id > Number(after) || late.map(Number).includes(id))
        .map((id) => [String(id), 'trips', Buffer.from([0, id % 256])]);
      return [...rows, [String(Math.max(0, ...shown)), null, null]];
    };
    const client = {
      abilities: { hasNotifications: true, readsFromReaders: true },
      nodes: 2,
      select,
    } as unknown as SqlClient;
    const context = { groups: { client: async () => client } } as unknown as StoreContext;
    const now = (): number => poll * msAPoll;
    const listening = openNotifiers(context, { read: () => 'reader', pauses: { leastMs: 1, mostMs: 1 }, now })
      .of('group-1')
      .listen('trips', (shards) => heard.push(...shards));
    await until('all polls are over', () => poll > polls.length + 3);
    listening.stop();
    return heard;
  };

  it('are each one once, and none from before', async () => {
    expect(
      await heardOf([
        [1, 2],
        [1, 2, 3],
        [1, 2, 3, 4, 5],
      ]),
    ).toEqual([3, 4, 5]);
  });

  it('include one whose number was left out, once it is visible', async () => {
    expect(await heardOf([[1], [1, 4], [1, 4, 5], [1, 3, 4, 5], [1, 2, 3, 4, 5]])).toEqual([4, 5, 3, 2]);
  });

  it('continue with lower numbers, of a promoted node, once they stay lower', async () => {
    const heard = await heardOf([[500], [500, 501], [401], [401, 402], [401, 402], [401, 402, 403]], 1000);
    expect(heard).toEqual(expect.arrayContaining([501 % 256, 402 % 256, 403 % 256]));
  });

  it('are each one once where two readers answer in turn, one of them a little behind', async () => {
    const ids = Array.from({ length: 100 }, (_, id) => id + 1);
    const polls = ids.flatMap((id) => [ids.slice(0, id), ids.slice(0, Math.max(1, id - 2))]);
    expect(await heardOf(polls, 10)).toEqual(ids.slice(1));
  });
});

describe.skipIf(WRITER_ONLY)('notifications', () => {
  it('bring cells of idle shards before any slow poll: of single puts, batches, and large appends', async () => {
    const deeds = newDeeds();
    const stop = await heardBy(deeds);
    const before = deeds.handled.length;
    await followed.write(3, 1);
    await whilePassing('the first is there', () => deeds.handled.length === before + 1);
    await slowPoll();
    await Promise.all(Array.from({ length: SHARDS }, (_, shard) => followed.write(shard, 20)));
    await whilePassing('all are there', () => deeds.handled.length >= before + 1 + 20 * SHARDS);
    expect(deeds.names().size, 'each once').toBe(deeds.handled.length);
    // Too large to share a transaction, and so to notify in one.
    const handled = deeds.handled.length;
    await slowPoll();
    const [row_key = ''] = rowsOfShard(7, SHARDS, 1);
    await followed.trips.put(cellOf({ row_key, ref_key: 1_000_000, body: randomBytes(400 * 1024).toString('hex') }));
    await whilePassing('the large one is there', () => deeds.handled.length === handled + 1);
    await stop();
  });

  it('are sent for the columns that a trigger wants, and for their erasures', async () => {
    const client = followed.clientOf(5);
    const [row_key = ''] = rowsOfShard(5, SHARDS, 1);
    const newest = async (): Promise<number> => {
      const sql = 'SELECT COALESCE(MAX(id), 0) FROM schemaless.notification WHERE datastore = ?';
      return Number((await select(client, sql, followed.datastore))[0]?.[0]);
    };
    const entries = async (append: () => Promise<unknown>): Promise<boolean> => {
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
    expect(await entries(() => put('NOTES'))).toBe(false);
    expect(await entries(() => put('STATUS', 'BASE'))).toBe(true);
    // Of what is not there: nothing else is to come of it.
    expect(await entries(() => erase({ column_name: 'NOTES', ref_key: 2_000_001 }))).toBe(false);
    expect(await entries(() => erase({ column_name: 'BASE', ref_key: 2_000_001 }))).toBe(true);
  });

  it.each([
    ['of other columns', false, 'NOTES'],
    ['whose notification was lost', true, 'BASE'],
  ])('leave cells %s to a slow poll, which finds them', async (_which, mute, column) => {
    const deeds = newDeeds();
    const stop = await heardBy(deeds);
    const known = deeds.idsOf(5);
    isMute = mute;
    await followed.write(5, 3, column);
    isMute = false;
    await followed.write(6, 1);
    const handled = deeds.handled.length;
    await whilePassing('another notified shard is handled', () => deeds.handled.length === handled + 1);
    clockMs += 1000;
    await followed.write(6, 1);
    await whilePassing('it is handled again', () => deeds.handled.length === handled + 2);
    expect(deeds.idsOf(5), 'no worker read it').toEqual(known);
    await slowPoll();
    await whilePassing('they are found', () => deeds.handled.length === handled + 5, Number.POSITIVE_INFINITY);
    await stop();
  });

  it('are few: old ones are removed', async () => {
    const client = followed.clientOf(0);
    const rows = async (): Promise<number> =>
      Number((await select(client, 'SELECT COUNT(*) FROM schemaless.notification'))[0]?.[0]);
    const numbers = (count: number): string => `(${'SELECT 1 UNION ALL '.repeat(count - 1)}SELECT 1)`;
    await change(
      client,
      `INSERT INTO schemaless.notification (datastore, shards) SELECT 'none', X'0000' FROM ${numbers(100)} AS a CROSS JOIN ${numbers(200)} AS b`,
    );
    const before = await rows();
    expect(before).toBeGreaterThan(15_000);
    await until('old ones go', async () => {
      await Promise.all(Array.from({ length: SHARDS }, (_, shard) => followed.write(shard, 1)));
      return (await rows()) < before - 400;
    });
  });
});
