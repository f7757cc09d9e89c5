import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SqlError, UNBOUNDED, type SqlClient, type SqlRow, type Statement } from '../../../shared/sql/client.ts';
import { guardedClient, type GuardedClient } from '../../../shared/sql/guarded-client.ts';

const QUICK = { failures: 3, slowMs: 40, silentMs: 50, probeAfterMs: 20, probeMostMs: 40, probeTimeoutMs: 60 };
const STATEMENT: Statement = { sql: 'SELECT something', parameters: [] };

const timeout = (): SqlError => new SqlError('unclear', 'no answer in time', { timedOut: true });
const refused = (): SqlError => new SqlError('unreachable', 'connection refused');

/** A client that does as it is told; counts what reaches it. */
function fakeClient() {
  const fake = {
    statements: 0,
    probes: 0,
    answer: async (): Promise<readonly SqlRow[]> => [],
    client: undefined as unknown as SqlClient,
  };
  const ask = ({ sql }: Statement): Promise<readonly SqlRow[]> => {
    if (sql === 'SELECT 1') fake.probes += 1;
    else fake.statements += 1;
    return fake.answer();
  };
  fake.client = {
    abilities: { readsFromReaders: true, survivesDiskLoss: true, bounds: UNBOUNDED },
    nodes: 2,
    select: ask,
    change: async (statement) => {
      await ask(statement);
      return { affectedRows: 1, insertId: 1 };
    },
    close: async () => undefined,
  };
  return fake;
}

const failureOf = (work: Promise<unknown>): Promise<string> => work.then(() => 'none', (error: unknown) => (error instanceof SqlError ? `${error.failure}: ${error.message}` : String(error)));
const OPEN = /^unreachable: the circuit of group-1, writer is open$/;
async function closes(client: GuardedClient): Promise<void> {
  await expect.poll(() => client.circuit('writer'), { timeout: 2000, interval: 5 }).toBe('closed');
}

describe('a guarded client', () => {
  it('sends nothing more to a role after one time limit that passed, until a sign of life comes', async () => {
    const fake = fakeClient();
    const trips: string[] = [];
    const client = guardedClient(fake.client, 'group-1', { settings: QUICK, onTrip: (role) => trips.push(role) });
    fake.answer = () => Promise.reject(timeout());
    expect(await failureOf(client.select(STATEMENT, 'writer'))).toBe('unclear: no answer in time');
    expect(await failureOf(client.change(STATEMENT))).toMatch(OPEN);
    expect(fake.statements).toBe(1);
    await sleep(200);
    expect(fake.probes).toBeGreaterThan(0);
    expect(await failureOf(client.select(STATEMENT, 'writer'))).toMatch(OPEN);
    expect(trips).toEqual(['writer']);
    fake.answer = async () => [['alive']];
    await closes(client);
    expect(await client.select(STATEMENT, 'writer')).toEqual([['alive']]);
  });

  it('leaves the other role and single nodes alone', async () => {
    const fake = fakeClient();
    const client = guardedClient(fake.client, 'group-1', { settings: QUICK });
    fake.answer = () => Promise.reject(timeout());
    await failureOf(client.select(STATEMENT, 'writer'));
    fake.answer = async () => [];
    await expect(client.select(STATEMENT, 'reader')).resolves.toEqual([]);
    await expect(client.select(STATEMENT, { node: 0 })).resolves.toEqual([]);
    expect([client.circuit('writer'), client.circuit('reader')]).toEqual(['open', 'closed']);
  });

  it('opens after some failures in a row, not after as many with successes between them', async () => {
    const fake = fakeClient();
    const client = guardedClient(fake.client, 'group-1', { settings: { ...QUICK, probeAfterMs: 10_000 } });
    for (let round = 0; round < 4; round += 1) {
      fake.answer = () => Promise.reject(refused());
      for (let failure = 0; failure < QUICK.failures - 1; failure += 1) await failureOf(client.select(STATEMENT, 'writer'));
      fake.answer = async () => [];
      await client.select(STATEMENT, 'writer');
    }
    fake.answer = () => Promise.reject(refused());
    for (let failure = 0; failure < QUICK.failures; failure += 1) expect(await failureOf(client.select(STATEMENT, 'writer'))).toContain('refused');
    expect(await failureOf(client.select(STATEMENT, 'writer'))).toMatch(OPEN);
  });

  it.each([
    ['a duplicate', new SqlError('duplicate', 'there already', { key: 'cell' })],
    ['a lock wait', new SqlError('contention', 'lock wait')],
    ['a refused statement', new SqlError('rejected', 'syntax')],
    ['no free connection', new SqlError('unreachable', 'all in use', { poolExhausted: true })],
  ])('does not take %s for an outage', async (_what, error) => {
    const fake = fakeClient();
    const client = guardedClient(fake.client, 'group-1', { settings: QUICK });
    fake.answer = () => Promise.reject(error);
    for (let time = 0; time < 10; time += 1) expect(await failureOf(client.select(STATEMENT, 'writer'))).toContain(error.message);
    expect(client.circuit('writer')).toBe('closed');
  });

  it('opens when all connections are in use and nothing has been answered for a while', async () => {
    const fake = fakeClient();
    const client = guardedClient(fake.client, 'group-1', { settings: { ...QUICK, probeAfterMs: 10_000 } });
    await client.select(STATEMENT, 'writer');
    fake.answer = () => Promise.reject(new SqlError('unreachable', 'all in use', { poolExhausted: true }));
    await failureOf(client.select(STATEMENT, 'writer'));
    expect(client.circuit('writer')).toBe('closed');
    await sleep(QUICK.silentMs + 10);
    expect(await failureOf(client.select(STATEMENT, 'writer'))).toContain('all in use');
    expect(await failureOf(client.select(STATEMENT, 'writer'))).toMatch(OPEN);
  });

  it('opens after a time limit whatever else succeeds at that moment', async () => {
    for (let turns = 0; turns < 12; turns += 1) {
      const fake = fakeClient();
      const client = guardedClient(fake.client, 'group-1', { settings: QUICK });
      fake.answer = () => Promise.reject(timeout());
      const late = failureOf(client.select(STATEMENT, 'writer'));
      fake.answer = async () => {
        for (let turn = 0; turn < turns; turn += 1) await undefined;
        return [];
      };
      await Promise.all([late, client.select(STATEMENT, 'writer')]);
      expect(client.circuit('writer'), `${turns} turns later`).toBe('open');
    }
  });

  it('takes slow for down, and still gives the slow answers', async () => {
    const fake = fakeClient();
    const client = guardedClient(fake.client, 'group-1', { settings: { ...QUICK, probeAfterMs: 10_000 } });
    fake.answer = () => sleep(QUICK.slowMs + 20, [['late']]);
    const answers = [];
    for (let time = 0; time < QUICK.failures; time += 1) answers.push(await client.select(STATEMENT, 'writer'));
    expect(answers).toEqual([[['late']], [['late']], [['late']]]);
    expect(await failureOf(client.select(STATEMENT, 'writer'))).toMatch(OPEN);
  });

  it('makes nobody wait for a sign of life that does not come', async () => {
    const fake = fakeClient();
    const client = guardedClient(fake.client, 'group-1', { settings: QUICK });
    fake.answer = () => Promise.reject(timeout());
    await failureOf(client.select(STATEMENT, 'writer'));
    fake.answer = () => new Promise(() => undefined);
    const start = performance.now();
    let slowest = 0;
    while (performance.now() - start < 300) {
      const begun = performance.now();
      expect(await failureOf(client.select(STATEMENT, 'writer'))).toMatch(OPEN);
      slowest = Math.max(slowest, performance.now() - begun);
      await sleep(2);
    }
    expect(fake.probes).toBeGreaterThan(0);
    expect(slowest).toBeLessThan(QUICK.probeTimeoutMs / 2);
  });

  it('does not open again for what began before it closed', async () => {
    const fake = fakeClient();
    const client = guardedClient(fake.client, 'group-1', { settings: QUICK });
    let end = (): void => undefined;
    fake.answer = () => new Promise((_, reject) => { end = () => reject(timeout()); });
    const hanging = failureOf(client.select(STATEMENT, 'writer'));
    const endHanging = end;
    fake.answer = () => Promise.reject(timeout());
    await failureOf(client.select(STATEMENT, 'writer'));
    fake.answer = async () => [];
    await closes(client);
    endHanging();
    expect(await hanging).toBe('unclear: no answer in time');
    expect(client.circuit('writer')).toBe('closed');
  });

  it('opens when another instance found the role down, tells nobody of it, and closes by its own sign of life', async () => {
    const fake = fakeClient();
    const trips: string[] = [];
    const client = guardedClient(fake.client, 'group-1', { settings: QUICK, onTrip: (role) => trips.push(role) });
    client.trip('writer');
    await sleep(1);
    expect(await failureOf(client.select(STATEMENT, 'writer'))).toMatch(OPEN);
    await closes(client);
    expect(trips).toEqual([]);
    expect(fake.statements).toBe(0);
  });
});
