import type { Connection } from 'mysql2/promise';
import { afterAll, describe, expect, inject, it, vi } from 'vitest';
import { openNotifiers } from '../../../shared/follow/notifications.ts';
import { readerWatch, type ReaderWatch } from '../../../shared/follow/reader-watch.ts';
import type { FollowerRun } from '../../../shared/follow/run-follower.ts';
import type { StoreContext } from '../../../shared/access/context.ts';
import type { SqlClient, SqlRow, Statement } from '../../../shared/sql/client.ts';
import { connectionTo } from '../../support/connection-to.ts';
import { readersOf } from '../../support/readers-caught-up.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';
import { follow, sharedFollowed } from './support/followed-store.ts';
import { until } from '../../support/until.ts';

const SHARDS = 6;
const GROUP = 'group-1';
const EVERY_MS = 400;
/** While it is set, the replication of the group is stopped: its readers show what they had when it began. */
let still: Connection | undefined;

function standingStill(client: SqlClient, group: string): SqlClient {
  return {
    ...client,
    async select(statement, target) {
      if (group !== GROUP || target !== 'reader' || !still) return client.select(statement, target);
      const [rows] = await still.query({ sql: statement.sql, rowsAsArray: true }, [...statement.parameters]);
      return rows as SqlRow[];
    },
  };
}

const followed = await sharedFollowed(SHARDS, standingStill);
for (let shard = 0; shard < SHARDS; shard += 1) await followed.write(shard, 3);
afterAll(() => still?.end());

async function stopReplication(): Promise<Connection> {
  const connection = await connectionTo(GROUP, { dateStrings: true, bigNumberStrings: true, timezone: 'Z' });
  await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT');
  return connection;
}

async function followAll(readers: ReaderWatch | undefined, run: Partial<FollowerRun> = {}) {
  const { deeds, worker } = follow(followed, { readers, pauses: { leastMs: 5, mostMs: 100 }, ...run });
  const isDone = async (): Promise<boolean> => (await followed.stored()).every((cell) => deeds.names().has(cell));
  await until('all that is there is handled', isDone);
  return { deeds, worker, isDone };
}

describe.skipIf(WRITER_ONLY)('a group whose readers answer, but get nothing new any more', () => {
  it.each([
    ['as triggers do', {}],
    ['some time behind, as the repair does', { behindMs: 100 }],
  ] as const)('is followed on its writer until they do, %s', async (_who, run) => {
    const events: string[] = [];
    const { context } = followed.store;
    const readers = readerWatch(context, { everyMs: EVERY_MS, report: (event) => events.push(event.kind) });
    const notifications = openNotifiers(context, { read: readers.roleOf });
    const { deeds, worker, isDone } = await followAll(readers, { ...run, notifications });
    const control = await followAll(undefined, run);
    still = await stopReplication();
    for (let shard = 0; shard < SHARDS; shard += 1) await followed.write(shard, 3);
    await until('what came is handled all the same', isDone);
    expect(readers.roleOf(GROUP)).toBe('writer');
    expect(await control.isDone(), 'the control, without a watch, waits').toBe(false);
    const { length } = deeds.handled;
    await followed.write(0, 3);
    await until('and what comes from then on', isDone);
    expect(deeds.handled).toHaveLength(length + 3);

    await still.end();
    still = undefined;
    await until('readers are read again', () => readers.roleOf(GROUP) === 'reader');
    await until('by the control as well', control.isDone);
    await Promise.all([worker.stop(), control.worker.stop()]);
    expect(events).toEqual(['readers_behind', 'readers_back']);
    expect(deeds.names().size, 'each cell once').toBe(deeds.handled.length);
  });
});

describe.skipIf(WRITER_ONLY)('readers that keep up', () => {
  it('are asked by two statements at a time, however many follow, and the writer is not read', async () => {
    await using nodes = await readersOf(inject('servers').groups.filter(({ name }) => name === GROUP));
    const asked: string[] = [];
    const events: string[] = [];
    const { context } = followed.store;
    const { groups } = context;
    const watched = {
      ...context,
      groups: {
        ...groups,
        async client(group: string): Promise<SqlClient> {
          const client = await groups.client(group);
          return { ...client, select: (one, role) => (asked.push(`${group} ${role}`), client.select(one, role)) };
        },
      },
    };
    let now = 0;
    const readers = readerWatch(watched, { now: () => now, report: (event) => events.push(event.kind) });
    readers.follow(followed.datastore);
    readers.follow(followed.datastore);
    for (const _ of [1, 2, 3]) readers.roleOf(GROUP);
    await until('the writer is asked', () => asked.length === 1);
    await followed.write(0, 1);
    await nodes.caughtUp();
    now += 10_000;
    for (const _ of [1, 2, 3]) expect(readers.roleOf(GROUP)).toBe('reader');
    await until('both are asked', () => asked.length === 3);
    expect(asked).toEqual([`${GROUP} writer`, `${GROUP} reader`, `${GROUP} writer`]);
    expect(events).toEqual([]);
  });
});

it('every shard of a group is compared, although no run that compares them lives longer than a minute', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  const shards = 2048;
  const asked = new Set<string>();
  const select = async ({ sql, parameters }: Statement): Promise<readonly SqlRow[]> => {
    asked.add(`${sql} ${parameters.join(' ')}`);
    return [];
  };
  const client = { abilities: { readsFromReaders: true }, nodes: 2, select };
  const homes = Array.from({ length: shards }, () => ({ group: GROUP, epoch: 1 }));
  const context = {
    topology: { datastore: async () => ({ datastore: 'trips', shards, homes }) },
    groups: { client: async () => client },
  } as unknown as StoreContext;
  for (let runs = 0; runs < 3; runs += 1) {
    const readers = readerWatch(context);
    readers.follow('trips');
    for (let seconds = 0; seconds < 62; seconds += 1) {
      readers.roleOf(GROUP);
      vi.advanceTimersByTime(1000);
      await new Promise((resolve) => void setImmediate(resolve));
    }
  }
  vi.useRealTimers();
  expect([...asked].filter((statement) => statement !== ' ')).toHaveLength(shards / 256);
});
