import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startDataApi } from '../../../../infra/local/data-api/data-api.ts';
import {
  callsOf,
  clientOf,
  failure,
  fakeTimeouts,
  long,
  onlyRow,
  dataApiOfTests,
  runningOn,
  serverLogin,
  type Calls,
} from './with-data-api.ts';

const api = await dataApiOfTests('CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20))');
beforeEach(() => api.run('DELETE FROM t'));

const insert = (id: number, transactionId?: string, calls: Calls = api) =>
  calls.run('INSERT INTO t (id) VALUES (:id)', { transactionId, parameters: [long('id', id)] });
const ids = async () => (await api.run('SELECT id FROM t ORDER BY id')).records?.map(([id]) => id?.longValue);
const gone = (cause: string) => ({
  name: 'TransactionNotFoundException',
  $metadata: expect.objectContaining({ httpStatusCode: 404 }),
  message: expect.stringMatching(new RegExp(`^Transaction \\S+ is not found\\. ${cause}`)),
});
const connectionOf = async (transactionId: string): Promise<number> =>
  Number(Object(onlyRow(await api.run('SELECT CONNECTION_ID()', { transactionId }))[0]).longValue);

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

  it('leaves nothing when it is rolled back, and is over for good', async () => {
    const [committed, rolledBack] = [await api.begin(), await api.begin()];
    await insert(1, rolledBack);
    await api.commit(committed);
    expect(await api.rollback(rolledBack)).toMatchObject({ transactionStatus: 'Rollback Complete' });
    for (const id of [committed, rolledBack]) {
      await expect(insert(1, id)).rejects.toMatchObject(gone('One previous call'));
      await expect(api.commit(id)).rejects.toMatchObject(gone('One previous call'));
      await expect(api.rollback(id)).rejects.toMatchObject(gone('One previous call'));
    }
    await expect(insert(1, 'unheard-of')).rejects.toMatchObject(gone('Transaction may be expired'));
    // The connections that were used commit each statement again.
    await insert(7);
    expect(await ids()).toEqual([7]);
  });

  it('continues after an error of a statement', async () => {
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

  it('begins again after a statement that commits by itself', async () => {
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
    const connection = await connectionOf(id);
    await api.run(`KILL ${connection}`);
    const left = `SELECT id FROM information_schema.processlist WHERE id = ${connection}`;
    await expect.poll(async () => (await api.run(left)).records).toEqual([]);
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

  it('takes one call at a time, and refuses the others at once', async () => {
    const id = await api.begin();
    const connection = await connectionOf(id);
    const slow = api.run('SELECT SLEEP(1000)', { transactionId: id }).catch(() => undefined);
    await runningOn(api, 'SELECT SLEEP(1000)');
    const busy = { name: 'DatabaseErrorException', message: 'Transaction is still running a query' };
    await expect(insert(1, id)).rejects.toMatchObject(busy);
    await expect(api.commit(id)).rejects.toMatchObject(busy);
    await api.run(`KILL QUERY ${connection}`);
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

describe('an endpoint with other limits', () => {
  afterEach(() => void vi.useRealTimers());

  async function start(limits: object): Promise<Calls & { readonly stop: () => Promise<void> }> {
    const other = await startDataApi({ clusters: () => serverLogin(), limits });
    const calls = callsOf(clientOf(other.url), api.database);
    onTestFinished(async () => {
      calls.client.destroy();
      await other.stop();
    });
    return { ...calls, stop: other.stop };
  }

  it('rolls back a transaction that is idle for three minutes, and none that is used', async () => {
    fakeTimeouts();
    const [idle, used] = [await api.begin(), await api.begin()];
    await insert(1, idle);
    await insert(2, used);
    vi.advanceTimersByTime(100_000);
    await insert(3, used);
    vi.advanceTimersByTime(100_000);
    await expect(insert(5, idle)).rejects.toMatchObject(gone('Transaction may be expired'));
    await api.commit(used);
    expect(await ids()).toEqual([2, 3]);
    // Its locks are gone too.
    await insert(1);
  });

  it('rolls back a transaction that takes too long, used or not', async () => {
    const calls = await start({ transactionTotalMs: 300_000 });
    fakeTimeouts();
    const id = await calls.begin();
    for (const one of [1, 2]) {
      await insert(one, id, calls);
      vi.advanceTimersByTime(170_000);
    }
    await expect(calls.commit(id)).rejects.toMatchObject(gone('Transaction may be expired'));
    expect(await ids()).toEqual([]);
  });

  it('has calls of a transaction wait for each other', async () => {
    const calls = await start({ singleCall: false });
    const id = await calls.begin();
    await Promise.all([1, 2, 3].map((one) => insert(one, id, calls)));
    await calls.commit(id);
    expect(await ids()).toEqual([1, 2, 3]);
  });

  it('rolls back what is under way when it stops, and waits for no statement', async () => {
    const calls = await start({});
    await insert(1, await calls.begin(), calls);
    const cut = calls.run('SELECT SLEEP(1001)');
    cut.catch(() => undefined);
    const connection = await runningOn(api, 'SELECT SLEEP(1001)');
    await calls.stop();
    await expect(cut).rejects.toThrow(/./);
    await expect.poll(() => insert(1).then(Boolean, () => false)).toBe(true);
    await api.run(`KILL ${connection}`).catch(() => undefined);
  });
});
