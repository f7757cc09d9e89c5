import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startDataApi } from '../../../../infra/local/data-api/data-api.ts';
import { Faults, type FaultOrder } from '../../../../infra/local/data-api/faults.ts';
import { callsOf, clientOf, failure, dataApiOfTests, onlyRow, serverLogin, type Calls } from './with-data-api.ts';

const api = await dataApiOfTests('CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20))');
const patient = callsOf(clientOf(api.url, 3), api.database);
afterAll(() => patient.client.destroy());
beforeEach(() => api.run('DELETE FROM t'));
afterEach(() => api.faults.clear());

const insert = (calls: Calls = api) => calls.run("INSERT INTO t (name) VALUES ('a')");
const count = async () => onlyRow(await api.run('SELECT COUNT(*) FROM t'))[0];
const post = async (body: unknown, method = 'POST') => {
  const response = await fetch(`${api.url}/_faults`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

describe('calls that are refused', () => {
  it.each([
    ['resuming', 'DatabaseResumingException', 400, 'is resuming after being auto-paused'],
    ['unavailable', 'DatabaseUnavailableException', 504, ''],
    ['throttled', 'ThrottlingException', 400, 'Rate exceeded'],
  ] as const)('%s: %s', async (kind, name, httpStatusCode, message) => {
    api.faults.set({ kind, count: 2 });
    for (const _ of [1, 2])
      await expect(insert()).rejects.toMatchObject(failure(name, expect.stringContaining(message), httpStatusCode));
    expect(await count()).toEqual({ longValue: 0 });
    await insert();
    expect(await count()).toEqual({ longValue: 1 });
  });

  it('the SDK tries again where there is no writer, and not while it resumes', async () => {
    api.faults.set({ kind: 'unavailable', count: 2 });
    expect((await insert(patient)).$metadata.attempts).toBe(3);
    api.faults.set({ kind: 'resuming', count: 1 });
    await expect(insert(patient)).rejects.toMatchObject({ $metadata: { attempts: 1 } });
  });
});

describe('calls that are cut off after they were done', () => {
  const cutOne = () => api.faults.set({ kind: 'cut-after-commit', count: 1 });

  it('a statement, which is done twice where the SDK repeats it', async () => {
    cutOne();
    await expect(insert()).rejects.toThrow(/ECONNRESET|hang up/);
    expect(await count()).toEqual({ longValue: 1 });
    cutOne();
    await insert(patient);
    expect(await count()).toEqual({ longValue: 3 });
  });

  it('a commit', async () => {
    const transactionId = await api.begin();
    await api.run("INSERT INTO t (name) VALUES ('b')", { transactionId });
    cutOne();
    await expect(patient.commit(transactionId)).rejects.toMatchObject(failure('TransactionNotFoundException'));
    expect(await count()).toEqual({ longValue: 1 });
  });

  it('none that failed', async () => {
    cutOne();
    await expect(api.run('NOT SQL')).rejects.toMatchObject(failure('DatabaseErrorException'));
    expect(api.faults.status()).toContainEqual(expect.objectContaining({ kind: 'cut-after-commit', count: 1 }));
  });
});

describe('while it runs', () => {
  it('a route sets, shows and ends them', async () => {
    const body = { faults: expect.arrayContaining([expect.objectContaining({ kind: 'throttled', share: 1 })]) };
    expect(await post({ kind: 'throttled', share: 1 })).toMatchObject({ status: 200, body });
    await expect(insert()).rejects.toMatchObject(failure('ThrottlingException'));
    expect(await post(undefined, 'GET')).toMatchObject({ body });
    expect((await post(undefined, 'DELETE')).status).toBe(200);
    await insert();
  });

  it.each<[unknown, string]>([
    [{ kind: 'fire', share: 1 }, 'kind: wanted one of resuming, unavailable, throttled, cut-after-commit, got "fire"'],
    [{ kind: 'resuming' }, 'share, count: wanted one of them'],
    [{ kind: 'resuming', share: 1, count: 1 }, 'share, count: wanted one of them'],
    [{ kind: 'resuming', share: 2 }, 'share: wanted a number from 0 to 1, got 2'],
    [{ kind: 'resuming', count: 1.5 }, 'count: wanted a whole number from 0 on, got 1.5'],
    [null, 'kind: wanted one of'],
  ])('%o is refused', async (order, message) => {
    expect(await post(order)).toEqual({ status: 400, body: { error: expect.stringContaining(message) } });
  });
});

describe('shares', () => {
  const refused = (seed: number, share: number): boolean[] => {
    const faults = new Faults(seed);
    faults.set({ kind: 'resuming', share });
    return Array.from({ length: 400 }, () => {
      try {
        faults.refuse();
        return false;
      } catch {
        return true;
      }
    });
  };

  it('hit as many calls as they say, the same ones for the same seed', () => {
    expect(Math.abs(refused(1, 0.25).filter(Boolean).length - 100)).toBeLessThan(30);
    expect(refused(1, 0.25)).toEqual(refused(1, 0.25));
    expect(refused(1, 0.25)).not.toEqual(refused(2, 0.25));
    expect(refused(1, 0).some(Boolean)).toBe(false);
    expect(refused(1, 1).every(Boolean)).toBe(true);
  });

  it('can be there from the start', async () => {
    const events: unknown[] = [];
    const other = await startDataApi({
      clusters: () => serverLogin(),
      faults: [{ kind: 'resuming', share: 1 }],
      report: (event) => events.push(event),
    });
    const client = clientOf(other.url);
    await expect(callsOf(client, undefined).run('SELECT 1')).rejects.toMatchObject(
      failure('DatabaseResumingException'),
    );
    expect(events).toEqual([
      expect.objectContaining({ operation: 'ExecuteStatement', status: 400, exception: 'DatabaseResumingException' }),
    ]);
    client.destroy();
    await other.stop();
    await expect(
      startDataApi({ clusters: [], faults: [{ kind: 'fire', share: 1 } as unknown as FaultOrder] }),
    ).rejects.toThrow('kind: wanted one of');
  });
});
