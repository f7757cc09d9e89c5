import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startDataApi, type DataApi } from '../../../../infra/local/data-api/data-api.ts';
import {
  callsOf,
  clientOf,
  failure,
  long,
  onlyRow,
  dataApiOfTests,
  RESOURCE_ARN,
  serverLogin,
  type Calls,
} from './with-data-api.ts';
import { TIMED } from '../../../support/timed.ts';

const api = await dataApiOfTests('CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20))');
beforeEach(async () => {
  await api.run('DELETE FROM t');
});

const insert = (id: number, transactionId?: string) =>
  api.run('INSERT INTO t (id) VALUES (:id)', { transactionId, parameters: [long('id', id)] });
const ids = async () => (await api.run('SELECT id FROM t ORDER BY id')).records?.map(([id]) => id?.longValue);
const gone = (cause: string) => ({
  name: 'TransactionNotFoundException',
  $metadata: expect.objectContaining({ httpStatusCode: 404 }),
  message: expect.stringMatching(new RegExp(`^Transaction \\S+ is not found\\. ${cause}`)),
});

describe('a transaction', () => {
  it('is seen by others once it is committed', async () => {
    const id = await api.begin();
    expect(id).toHaveLength(184);
    await insert(1, id);
    await api.batch('INSERT INTO t (id) VALUES (:id)', [[long('id', 2)], [long('id', 3)]], { transactionId: id });
    expect(await ids()).toEqual([]);
    expect(onlyRow(await api.run('SELECT COUNT(*) FROM t', { transactionId: id }))).toEqual([{ longValue: 3 }]);
    expect(await api.commit(id)).toMatchObject({ transactionStatus: 'Transaction Committed' });
    expect(await ids()).toEqual([1, 2, 3]);
  });

  it('leaves nothing when it is rolled back', async () => {
    const id = await api.begin();
    await insert(1, id);
    expect(await api.rollback(id)).toMatchObject({ transactionStatus: 'Rollback Complete' });
    expect(await ids()).toEqual([]);
  });

  it('is over for good', async () => {
    const [committed, rolledBack] = [await api.begin(), await api.begin()];
    await api.commit(committed);
    await api.rollback(rolledBack);
    for (const id of [committed, rolledBack]) {
      await expect(insert(1, id)).rejects.toMatchObject(gone('One previous call'));
      await expect(api.commit(id)).rejects.toMatchObject(gone('One previous call'));
      await expect(api.rollback(id)).rejects.toMatchObject(gone('One previous call'));
    }
    await expect(insert(1, 'unheard-of')).rejects.toMatchObject(gone('Transaction may be expired'));
    // The connections that were used go on committing by themselves.
    await insert(7);
    expect(await ids()).toEqual([7]);
  });

  it('goes on after an error of a statement', async () => {
    const id = await api.begin();
    await insert(1, id);
    await expect(insert(1, id)).rejects.toMatchObject(failure('DatabaseErrorException'));
    await expect(api.run('NOT SQL', { transactionId: id })).rejects.toMatchObject(
      failure('DatabaseErrorException', expect.stringMatching(/; Error code: 1064; SQLState: 42000$/)),
    );
    await insert(2, id);
    await api.commit(id);
    expect(await ids()).toEqual([1, 2]);
  });

  it('begins anew after a statement that commits by itself', async () => {
    const id = await api.begin();
    await insert(1, id);
    await api.run('CREATE TABLE IF NOT EXISTS implied (id INT)', { transactionId: id });
    await insert(2, id);
    await api.rollback(id);
    expect(await ids()).toEqual([1]);
  });

  it('that the server rolled back is aborted: nothing of it is committed by what comes after', async () => {
    await insert(1);
    await insert(2);
    const [first, second] = [await api.begin(), await api.begin()];
    const update = (id: number, transactionId: string) =>
      api.run("UPDATE t SET name = 'x' WHERE id = :id", { transactionId, parameters: [long('id', id)] });
    await insert(3, second);
    await update(1, first);
    await update(2, second);
    const ends = await Promise.allSettled([update(2, first), update(1, second)]);
    const deadlocked = ends.findIndex(({ status }) => status === 'rejected');
    expect(ends[deadlocked]).toMatchObject({
      reason: { name: 'DatabaseErrorException', message: expect.stringContaining('Error code: 1213') },
    });
    const [dead = '', alive = ''] = deadlocked === 0 ? [first, second] : [second, first];
    await expect(insert(4, dead)).rejects.toMatchObject(gone('Transaction has been aborted'));
    await expect(api.commit(dead)).rejects.toMatchObject(gone('Transaction has been aborted'));
    expect(await api.rollback(dead)).toMatchObject({ transactionStatus: 'Rollback Complete' });
    await api.rollback(alive);
    expect(await ids()).toEqual([1, 2]);
  });

  it('whose connection is lost is aborted', async () => {
    const id = await api.begin();
    await insert(1, id);
    const [connection] = onlyRow(await api.run('SELECT CONNECTION_ID()', { transactionId: id })) as {
      longValue: number;
    }[];
    await api.run(`KILL ${String(connection?.longValue)}`);
    await sleep(100);
    await expect(insert(2, id)).rejects.toMatchObject(failure('DatabaseUnavailableException'));
    await expect(insert(2, id)).rejects.toMatchObject(gone('Transaction has been aborted'));
    expect(await api.rollback(id)).toMatchObject({ transactionStatus: 'Rollback Complete' });
    expect(await ids()).toEqual([]);
  });

  it('is bound to its cluster and its database', async () => {
    const id = await api.begin();
    await expect(api.run('SELECT 1', { transactionId: id, database: 'mysql' })).rejects.toMatchObject(
      failure('ValidationException', 'Database name is not the same as transaction database'),
    );
    await api.run('SELECT 1', { transactionId: id, database: undefined });
    const transactionId = await callsOf(api.client, undefined).begin();
    await expect(api.run('SELECT 1', { transactionId })).rejects.toMatchObject(failure('ValidationException'));
    await Promise.all([api.rollback(id), api.rollback(transactionId)]);
  });

  it('takes one call at a time, and refuses the others at once', TIMED, async () => {
    const id = await api.begin();
    const slow = api.run('SELECT SLEEP(2)', { transactionId: id });
    await sleep(300);
    const busy = { name: 'DatabaseErrorException', message: 'Transaction is still running a query' };
    const before = performance.now();
    await expect(insert(1, id)).rejects.toMatchObject(busy);
    await expect(api.commit(id)).rejects.toMatchObject(busy);
    expect(performance.now() - before).toBeLessThan(1500);
    await slow;
    await api.commit(id);
  });
});

it('calls outside of a transaction share no session', async () => {
  await api.run('SET @a = 1');
  await api.run('USE mysql', { database: undefined });
  await api.run('BEGIN');
  await insert(1);
  const answers = await Promise.all([1, 2, 3].map(() => api.run('SELECT @a, DATABASE()', { database: undefined })));
  for (const answer of answers) expect(onlyRow(answer)).toEqual([{ isNull: true }, { isNull: true }]);
  expect(await ids()).toEqual([1]);
});

describe('times', () => {
  let hasty: DataApi;
  let calls: Calls;

  async function start(limits: object): Promise<void> {
    hasty = await startDataApi({ clusters: () => serverLogin(), limits });
    calls = callsOf(clientOf(hasty.url), api.database);
  }
  afterEach(async () => {
    calls.client.destroy();
    await hasty.stop();
  });
  const insertHasty = (id: number, transactionId: string) =>
    calls.run(`INSERT INTO t (id) VALUES (${id})`, { transactionId });

  it('an idle transaction is rolled back, one that is used is not', async () => {
    await start({ transactionIdleMs: 1500 });
    const [idle, used] = [await calls.begin(), await calls.begin()];
    await insertHasty(1, idle);
    for (const id of [2, 3, 4]) {
      await insertHasty(id, used);
      await sleep(600);
    }
    await expect(insertHasty(5, idle)).rejects.toMatchObject(gone('Transaction may be expired'));
    await calls.commit(used);
    expect(await ids()).toEqual([2, 3, 4]);
    // Its locks are gone too.
    await insert(1);
  });

  it('a transaction that takes too long is rolled back, used or not', async () => {
    await start({ transactionTotalMs: 1500 });
    const id = await calls.begin();
    await insertHasty(1, id);
    await sleep(1700);
    await expect(calls.commit(id)).rejects.toMatchObject(gone('Transaction may be expired'));
    expect(await ids()).toEqual([]);
  });

  it('calls wait for each other where that is wished', async () => {
    await start({ singleCall: false });
    const id = await calls.begin();
    await Promise.all([1, 2, 3].map((one) => insertHasty(one, id)));
    await calls.commit(id);
    expect(await ids()).toEqual([1, 2, 3]);
  });

  it('an endpoint that stops rolls back what is under way, and waits for no statement', TIMED, async () => {
    await start({});
    const id = await calls.begin();
    await insertHasty(1, id);
    const cut = calls.run('SELECT SLEEP(20)');
    cut.catch(() => undefined);
    await sleep(200);
    const before = performance.now();
    await hasty.stop();
    await expect(cut).rejects.toThrow(/./);
    expect(performance.now() - before).toBeLessThan(2000);
    const isFree = () => insert(1).then(Boolean, () => false);
    await expect.poll(isFree).toBe(true);
    hasty = await startDataApi({ clusters: [{ resourceArn: RESOURCE_ARN, ...serverLogin() }] });
  });
});
