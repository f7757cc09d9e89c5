import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { SqlError, type SqlChange, type SqlClient, type Statement } from '../../../shared/sql/client.ts';
import { batchingClient } from '../../../shared/sql/batching-client.ts';
import { fakeTime, passes } from '../../support/fake-time.ts';
import { clientTo, ownTables, sharedClient, sharedConnection } from '../../support/connection-to.ts';
import { transactionsOf, withTransactions } from '../../support/wrapped-client.ts';

const TABLES = 40;

let sent: number[];
let client: SqlClient;

let last = 0;
const insertInto = (table: string, note: Uint8Array | string = ''): Statement => ({
  sql: `INSERT INTO ${table} (id, note) SELECT LAST_INSERT_ID(?), ?`,
  parameters: [(last += 1), note],
  table,
  mayShareCommit: true,
});

function counted(through: SqlClient): SqlClient {
  const { run } = transactionsOf(through);
  return {
    ...withTransactions(through, (statements) => (sent.push(statements.length), run(statements))),
    change: (statement) => (sent.push(1), through.change(statement)),
  };
}

const direct = sharedClient();
const holder = await sharedConnection();
const tableOf = await ownTables(holder, TABLES, 'id INT NOT NULL PRIMARY KEY, note MEDIUMBLOB NOT NULL');

beforeEach(() => {
  sent = [];
  client = batchingClient(counted(direct));
});

const inserts = (count: number, from: number, note?: Uint8Array): Statement[] =>
  Array.from({ length: count }, (_, number) => insertInto(tableOf((from + number) % TABLES), note));
const all = (statements: readonly Statement[]): Promise<PromiseSettledResult<SqlChange>[]> =>
  Promise.allSettled(statements.map((statement) => client.change(statement)));
const failures = (ends: readonly PromiseSettledResult<SqlChange>[]): unknown[] =>
  ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));

describe('changes that come together', () => {
  it('are committed together, and each is told what became of it', async () => {
    const statements = inserts(TABLES, 0);
    const ends = await all(statements);
    expect(ends).toEqual(
      statements.map(({ parameters: [id] }) => ({ status: 'fulfilled', value: { affectedRows: 1, insertId: id } })),
    );
    // The first seemed to come alone.
    expect(sent).toEqual([1, TABLES - 1]);
  });

  it('are not sent where their senders gave them up while they waited', async () => {
    let isWanted = true;
    const statements = inserts(3, 0).map((statement) => ({ ...statement, isWanted: () => isWanted }));
    const ends = all([...statements, insertInto(tableOf(5))]);
    isWanted = false;
    expect(failures(await ends)).toMatchObject([{ failure: 'unreachable' }, { failure: 'unreachable' }]);
    // The first was sent at once.
    expect(sent).toEqual([1, 1]);
    await expect(client.change(statements[0] as Statement)).rejects.toMatchObject({ failure: 'unreachable' });
  });

  it('do not wait: a lone change goes alone, at once', async () => {
    for (let number = 0; number < 5; number += 1) await client.change(insertInto(tableOf(number)));
    expect(sent).toEqual([1, 1, 1, 1, 1]);
  });

  it('go with others only where they may, and no large one with small ones', async () => {
    const { mayShareCommit: _may, ...alone } = insertInto(tableOf(0));
    const ends = await all([
      insertInto(tableOf(1)),
      insertInto(tableOf(2)),
      alone,
      insertInto(tableOf(3), Buffer.alloc(300 * 1024)),
      insertInto(tableOf(4)),
    ]);
    expect(failures(ends)).toEqual([]);
    expect(sent.toSorted()).toEqual([1, 1, 1, 2]);
  });

  it('are many at most, by number and by bytes', async () => {
    expect(failures(await all(inserts(251, 0)))).toEqual([]);
    expect(sent.toSorted((a, b) => a - b)).toEqual([1, 50, 50, 50, 50, 50]);
    sent = [];
    expect(failures(await all(inserts(9, 0, Buffer.alloc(100 * 1024))))).toEqual([]);
    expect(Math.max(...sent)).toBe(2);
  });
});

const readAfterCommit = (statement: Statement): Statement => ({
  ...statement,
  readAfter: [
    {
      branches: 1,
      from: (item) => ({
        sql: `SELECT ${item}, id FROM ${statement.table ?? ''} WHERE id = ?`,
        parameters: statement.parameters.slice(0, 1),
      }),
    },
  ],
});

describe('a read after a change', () => {
  it('comes with it, for a lone change and for each of several', async () => {
    const statements = inserts(4, 0).map((one, position) => (position === 2 ? one : readAfterCommit(one)));
    const [first, ...others] = statements as [Statement, ...Statement[]];
    const wanted = ({ parameters: [id], readAfter }: Statement): unknown => ({
      affectedRows: 1,
      insertId: id,
      ...(readAfter && { rows: [id] }),
    });
    const counted = ({ rows, ...change }: SqlChange): unknown => ({
      ...change,
      ...(rows && { rows: rows.flat().map((row) => Number(row[1])) }),
    });
    expect(counted(await client.change(first))).toEqual(wanted(first));
    const ends = await all(others);
    expect(ends.map((end) => end.status === 'fulfilled' && counted(end.value))).toEqual(others.map(wanted));
  });

  it('is left out where the change goes alone: a large one, or one of a faulty table', async () => {
    const large = readAfterCommit(insertInto(tableOf(5), Buffer.alloc(300 * 1024)));
    expect(await client.change(large)).toEqual({ affectedRows: 1, insertId: large.parameters[0] });
    const twice = readAfterCommit({ ...insertInto(tableOf(6)), parameters: [last, ''] });
    await client.change(twice);
    await expect(client.change(twice)).rejects.toMatchObject({ failure: 'duplicate', errno: 1062 });
    const next = readAfterCommit(insertInto(tableOf(6)));
    expect(await client.change(next)).toEqual({ affectedRows: 1, insertId: next.parameters[0] });
  });
});

describe('a faulty statement', () => {
  const absent = tableOf('nowhere');

  it('costs the others nothing, and goes by itself from then on', async () => {
    const some = (): Statement[] => [
      insertInto(tableOf(0)),
      insertInto(tableOf(1)),
      insertInto(absent),
      insertInto(tableOf(2)),
    ];
    const first = await all(some());
    expect(failures(first)).toEqual([expect.objectContaining({ failure: 'rejected', errno: 1146 })]);
    expect(sent).toEqual([1, 3, 1, 1, 1]);
    sent = [];
    expect(failures(await all(some()))).toHaveLength(1);
    expect(sent.toSorted()).toEqual([1, 3]);
  });

  it('is answered by what it did itself: a duplicate is no duplicate of the others', async () => {
    const twice = insertInto(tableOf(7));
    await client.change(twice);
    const ends = await all([insertInto(tableOf(8)), insertInto(tableOf(9)), twice, insertInto(tableOf(7))]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(failures(ends)[0]).toMatchObject({ failure: 'duplicate' });
  });

  it('is none where a duplicate is expected: the others are batched without it', async () => {
    const twice: Statement = { ...insertInto(tableOf(10)), mayBeThere: true };
    await client.change(twice);
    sent = [];
    const ends = await all([
      insertInto(tableOf(12)),
      twice,
      readAfterCommit(insertInto(tableOf(11))),
      insertInto(tableOf(10)),
    ]);
    expect(failures(ends)).toEqual([expect.objectContaining({ failure: 'duplicate' })]);
    expect(ends[1]?.status).toBe('rejected');
    // The read after the change comes as well: no statement goes alone, nor does the table from then on.
    expect(sent).toEqual([1, 3, 2]);
    sent = [];
    expect(failures(await all([insertInto(tableOf(12)), insertInto(tableOf(10)), insertInto(tableOf(11))]))).toEqual(
      [],
    );
    expect(sent).toEqual([3]);
  });

  it('is one where another duplicate follows, which costs no third transaction', async () => {
    const twice = [13, 14, 15].map((table): Statement => ({ ...insertInto(tableOf(table)), mayBeThere: true }));
    for (const one of twice) await client.change(one);
    const ends = await all([insertInto(tableOf(16)), ...twice, insertInto(tableOf(17))]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected', 'fulfilled']);
    expect(sent.slice(3)).toEqual([1, 4, 3, 1, 1, 1]);
  });

  it('whose values no driver takes fails no other', async () => {
    const wrong = { ...insertInto(tableOf(3)), parameters: [(last += 1), Number.NaN] };
    const ends = await all([insertInto(tableOf(1)), insertInto(tableOf(2)), wrong, insertInto(tableOf(3))]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(failures(ends)[0]).toBeInstanceOf(TypeError);
  });

  it.each([
    ['none where no connection could be had for a transaction: each goes by itself', 1040, 0],
    ['every one where the server is no writer any more', 1290, 3],
  ])('is %s', async (_what, errno, failed) => {
    const run = (): Promise<never> => Promise.reject(new SqlError('unreachable', 'no transaction', { errno }));
    client = batchingClient({ ...direct, transactions: { atOnce: 2, spare: 2, run } });
    expect(failures(await all(inserts(4, 1)))).toHaveLength(failed);
  });

  it('that ended unclear is reported as unclear to its whole transaction', async () => {
    const { run } = transactionsOf(direct);
    const lost = new SqlError('unclear', 'the connection was lost');
    client = batchingClient(
      withTransactions(direct, async (statements) => (await run(statements), Promise.reject(lost))),
    );
    const ends = await all(inserts(3, 1));
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(failures(ends)).toEqual([
      expect.objectContaining({ failure: 'unclear' }),
      expect.objectContaining({ failure: 'unclear' }),
    ]);
  });
});

async function whileLocked(number: number, work: (unlock: () => Promise<unknown>) => Promise<void>): Promise<void> {
  const unlock = () => holder.query('UNLOCK TABLES');
  await holder.query(`LOCK TABLES ${tableOf(number)} WRITE`);
  try {
    await work(unlock);
  } finally {
    await unlock();
  }
}

describe('a locked table', () => {
  it('keeps the others waiting until it is found once, and not again while it is locked', async () => {
    const waiting: Promise<unknown>[] = [];
    await whileLocked(0, async () => {
      // First a lone change; then a batch of all others, until the server gives up; then one by one.
      const [, , ...ends] = await all([insertInto(tableOf(31)), insertInto(tableOf(0)), ...inserts(30, 1)]);
      expect([failures(ends), sent.slice(0, 2), sent.length]).toEqual([[], [1, 31], 2 + 31]);
      for (let round = 0; round < 5; round += 1) {
        sent = [];
        waiting.push(client.change(insertInto(tableOf(0))).catch((error: unknown) => error));
        expect(failures(await all([insertInto(tableOf(31)), ...inserts(30, 1)]))).toEqual([]);
        expect(sent[0]).toBe(1);
        expect(sent.slice(1).every((count) => count === 1 || count >= 30)).toBe(true);
        expect(sent.length).toBeLessThanOrEqual(3);
      }
    });
    await Promise.all(waiting);
  });

  it('delays no other where its statements came alone, however many of them wait', async () => {
    await whileLocked(0, async (unlock) => {
      const stuck = [client.change(insertInto(tableOf(0)))];
      await turn();
      stuck.push(client.change(insertInto(tableOf(0))));
      await sleep(300); // Clock: overdue by then
      stuck.push(client.change(insertInto(tableOf(0))), client.change(insertInto(tableOf(0))));
      expect(failures(await all(inserts(30, 3)))).toEqual([]);
      // Each of the locked table by itself; of the others perhaps the first alone, then all as a batch.
      expect(sent.slice(0, 4)).toEqual([1, 1, 1, 1]);
      expect(sent.at(-1)).toBeGreaterThanOrEqual(29);
      await unlock();
      await Promise.allSettled(stuck);
    });
  });

  it('delays none that come later, whatever went with it', async () => {
    await whileLocked(0, async (unlock) => {
      const stuck = all([insertInto(tableOf(1)), insertInto(tableOf(0)), insertInto(tableOf(2))]);
      await sleep(300); // Clock: overdue by then
      expect(failures(await all(inserts(30, 3)))).toEqual([]);
      // Sent before the transaction that holds the locked table had ended: its statements go one by one then.
      expect(sent.slice(0, 3)).toEqual([1, 2, 30]);
      await unlock();
      expect(failures(await stuck)).toEqual([]);
    });
  });

  it('delays those whose tables are locked with it, and gives them no connection until then', async () => {
    await whileLocked(9, async (unlock) => {
      const stuck = all([
        insertInto(tableOf(30)),
        insertInto(tableOf(1)),
        insertInto(tableOf(9)),
        insertInto(tableOf(2)),
      ]);
      await sleep(300); // Clock: overdue by then
      sent = [];
      const waiting = all(Array.from({ length: 20 }, () => insertInto(tableOf(1))));
      expect(failures(await all(inserts(2, 31)))).toEqual([]);
      expect(failures(await waiting)).toEqual([]);
      // The others, then the three that were stuck, one by one, and only then those that wait.
      expect(sent).toEqual([2, 1, 1, 1, 20]);
      await unlock();
      expect(failures(await stuck)).toEqual([]);
    });
  });

  it('delays no other where there is one connection for transactions', async () => {
    await using parts = new AsyncDisposableStack();
    const narrow = parts.adopt(clientTo(undefined, { lanes: 1 }), (one) => one.close());
    client = batchingClient(counted(narrow));
    await whileLocked(9, async (unlock) => {
      const stuck = all([insertInto(tableOf(30)), insertInto(tableOf(9)), insertInto(tableOf(2))]);
      await sleep(300); // Clock: overdue by then
      expect(sent).toEqual([1, 2]);
      expect(failures(await all(inserts(3, 31)))).toEqual([]);
      // Each by itself: if they waited for the connection, they would be batched.
      expect(sent.slice(2, 5)).toEqual([1, 1, 1]);
      await unlock();
      expect(failures(await stuck)).toEqual([]);
    });
  });
});

it('a change that waits for over two seconds for a transaction that does not end fails unsent', async () => {
  using _time = fakeTime();
  client = batchingClient({
    ...direct,
    change: async () => ({ affectedRows: 1, insertId: 0 }),
    transactions: { atOnce: 1, spare: 0, run: () => new Promise(() => undefined) },
  });
  void all(inserts(3, 1));
  await passes(50);
  const waiting = all([insertInto(tableOf(2)), insertInto(tableOf(3))]);
  await passes(2200);
  const refused = expect.objectContaining({ failure: 'unreachable', poolExhausted: true });
  expect(failures(await waiting)).toEqual([refused, refused]);
});

it('a client that is closed sends nothing of what waits, and says so', async () => {
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const run = async (some: readonly Statement[]): Promise<SqlChange[]> => {
    begun.resolve();
    await ended.promise;
    return some.map(() => ({ affectedRows: 1, insertId: 0 }));
  };
  client = batchingClient({ ...direct, transactions: { atOnce: 1, spare: 0, run }, close: async () => undefined });
  const first = all(inserts(3, 1));
  await begun.promise;
  const waiting = all([insertInto(tableOf(4)), insertInto(tableOf(5))]);
  await client.close();
  const refused = expect.objectContaining({ failure: 'unreachable' });
  expect(failures(await waiting)).toEqual([refused, refused]);
  ended.resolve();
  expect(failures(await first)).toEqual([]);
});
