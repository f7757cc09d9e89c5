import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { SqlError, UNBOUNDED, type SqlClient, type SqlRow, type Statement } from '../../../shared/sql/client.ts';
import { guardedClient, type GuardedClient, type GuardOptions } from '../../../shared/sql/guarded-client.ts';
import { watchStandstill, type Standstill } from '../../../shared/sql/standstill.ts';
import { TIMED } from '../../support/timed.ts';

const QUICK = { failures: 3, slowMs: 40, silentMs: 50, probeAfterMs: 20, probeMostMs: 40, probeTimeoutMs: 60 };
const STATEMENT: Statement = { sql: 'SELECT something', parameters: [] };

const timeout = (): SqlError => new SqlError('unclear', 'no answer in time', { timedOut: true });
const refused = (): SqlError => new SqlError('unreachable', 'connection refused');

/** A client that does as it is told; counts what reaches it. */
function fakeClient() {
  const fake = {
    statements: 0,
    /** Signs of life that were asked for on a connection of their own; each is asked for on any, too. */
    probes: 0,
    /** Signs of life; as all else is answered, unless set. */
    alive: undefined as (() => Promise<readonly SqlRow[]>) | undefined,
    answer: async (): Promise<readonly SqlRow[]> => [],
    client: undefined as unknown as SqlClient,
  };
  const ask = ({ sql, apart }: Statement): Promise<readonly SqlRow[]> => {
    const isProbe = sql === 'SELECT 1';
    if (!isProbe) fake.statements += 1;
    else if (apart === true) fake.probes += 1;
    return (isProbe ? fake.alive : undefined)?.() ?? fake.answer();
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

/** The same behind circuit breakers, and whom it told of one that opened. */
function guarded(settings: Partial<typeof QUICK> = {}, more: GuardOptions = {}) {
  const fake = fakeClient();
  const told: string[] = [];
  const client = guardedClient(fake.client, 'group-1', {
    settings: { ...QUICK, ...settings },
    onOpen: (role, by) => told.push(`${role}, ${by}`),
    ...more,
  });
  const select = () => client.select(STATEMENT, 'writer');
  return { fake, told, client, select, fails: () => failureOf(select()) };
}

const failureOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof SqlError ? `${error.failure}: ${error.message}` : String(error)),
  );
const OPEN = /^unreachable: the circuit of group-1, writer is open$/;
async function opens(client: GuardedClient): Promise<void> {
  await expect.poll(() => client.circuit('writer'), { interval: 1 }).toBe('open');
}
async function closes(client: GuardedClient): Promise<void> {
  await expect.poll(() => client.circuit('writer'), { interval: 5 }).toBe('closed');
}

describe('a guarded client', () => {
  it('sends nothing more to a role after a time limit that passed and a sign of life that did not come, until one does', async () => {
    const { fake, told, client, select, fails } = guarded();
    fake.answer = () => Promise.reject(timeout());
    expect(await fails()).toBe('unclear: no answer in time');
    await opens(client);
    expect(await failureOf(client.change(STATEMENT))).toMatch(OPEN);
    expect(fake.statements).toBe(1);
    await sleep(200);
    expect(fake.probes).toBeGreaterThan(0);
    expect(await fails()).toMatch(OPEN);
    expect(told).toEqual(['writer, here']);
    fake.answer = async () => [['alive']];
    await closes(client);
    expect(await select()).toEqual([['alive']]);
  });

  it('leaves the other role and single nodes alone', async () => {
    const { fake, client, fails } = guarded();
    fake.answer = () => Promise.reject(timeout());
    await fails();
    await opens(client);
    fake.answer = async () => [];
    await expect(client.select(STATEMENT, 'reader')).resolves.toEqual([]);
    await expect(client.select(STATEMENT, { node: 0 })).resolves.toEqual([]);
    expect([client.circuit('writer'), client.circuit('reader')]).toEqual(['open', 'closed']);
  });

  it('opens after some failures in a row, not after as many with successes between them', async () => {
    const { fake, client, select, fails } = guarded({ probeAfterMs: 10_000 });
    for (let round = 0; round < 4; round += 1) {
      fake.answer = () => Promise.reject(refused());
      for (let failure = 0; failure < QUICK.failures - 1; failure += 1) await fails();
      fake.answer = async () => [];
      await select();
    }
    fake.answer = () => Promise.reject(refused());
    for (let failure = 0; failure < QUICK.failures; failure += 1) expect(await fails()).toContain('refused');
    await opens(client);
    expect(await fails()).toMatch(OPEN);
  });

  it.each([
    ['a duplicate', new SqlError('duplicate', 'there already', { key: 'cell' })],
    ['a lock wait', new SqlError('contention', 'lock wait')],
    ['a refused statement', new SqlError('rejected', 'syntax')],
    ['no free connection', new SqlError('unreachable', 'all in use', { poolExhausted: true })],
  ])('does not take %s for an outage', async (_what, error) => {
    const { fake, client, fails } = guarded();
    fake.answer = () => Promise.reject(error);
    for (let time = 0; time < 10; time += 1) expect(await fails()).toContain(error.message);
    expect(client.circuit('writer')).toBe('closed');
  });

  it('opens when all connections are in use, nothing has been answered for a while, and no sign of life comes', async () => {
    const { fake, client, select, fails } = guarded({ probeAfterMs: 10_000 });
    await select();
    fake.answer = () => Promise.reject(new SqlError('unreachable', 'all in use', { poolExhausted: true }));
    await fails();
    expect([client.circuit('writer'), fake.probes]).toEqual(['closed', 0]);
    await sleep(QUICK.silentMs + 10);
    expect(await fails()).toContain('all in use');
    await opens(client);
    expect(await fails()).toMatch(OPEN);
  });

  it.each([
    ['a time limit that passed', 1, timeout],
    ['failures in a row', QUICK.failures, refused],
    [
      'all connections being in use for long',
      1,
      () => new SqlError('unreachable', 'all in use', { poolExhausted: true }),
    ],
  ])(
    'takes %s for no evidence against a node that gives a sign of life, and tells nobody',
    async (_what, times, failure) => {
      const { fake, told, client, fails } = guarded();
      fake.alive = async () => [['alive']];
      fake.answer = () => Promise.reject(failure());
      // From here on it counts how long nothing was answered.
      expect(client.circuit('writer')).toBe('closed');
      await sleep(QUICK.silentMs + 10);
      for (let round = 1; round <= 3; round += 1) {
        for (let time = 0; time < times; time += 1) await fails();
        await expect.poll(() => fake.probes).toBe(round);
      }
      await sleep(QUICK.probeTimeoutMs * 2);
      expect([client.circuit('writer'), told]).toEqual(['closed', []]);
    },
  );

  it('answers statements as before while it asks for a sign of life', TIMED, async () => {
    const { fake, select, fails } = guarded({ probeTimeoutMs: 2000 });
    fake.alive = () => new Promise(() => undefined);
    fake.answer = () => Promise.reject(timeout());
    const begun = performance.now();
    await fails();
    fake.answer = async () => [['answered']];
    expect(await select()).toEqual([['answered']]);
    expect(performance.now() - begun).toBeLessThan(1000);
    expect(fake.probes).toBe(1);
  });

  it('opens after a time limit, whatever was answered before it asked', async () => {
    const { fake, client, select, fails } = guarded();
    fake.alive = () => new Promise(() => undefined);
    fake.answer = async () => [];
    await Promise.all(Array.from({ length: 5 }, () => select()));
    fake.answer = () => Promise.reject(timeout());
    await fails();
    await opens(client);
    expect(fake.statements).toBe(6);
  });

  it.each([
    ['an answer', async () => [['answered']]],
    ['a refusal', () => Promise.reject(new SqlError('duplicate', 'there already', { key: 'cell' }))],
  ])('takes %s that comes while it asks for a sign of life for one', async (_what, answer) => {
    const { fake, client, fails } = guarded();
    fake.alive = () => new Promise(() => undefined);
    fake.answer = () => Promise.reject(timeout());
    await fails();
    await sleep(5);
    fake.answer = answer;
    await fails();
    await sleep(QUICK.probeTimeoutMs * 2);
    expect(client.circuit('writer')).toBe('closed');
  });

  it('takes slow for down where no sign of life comes either, and still gives the slow answers', async () => {
    const { fake, client, select, fails } = guarded({ probeAfterMs: 10_000 });
    fake.alive = () => new Promise(() => undefined);
    fake.answer = () => sleep(QUICK.slowMs + 20, [['late']]);
    const answers = [];
    for (let time = 0; time < QUICK.failures; time += 1) answers.push(await select());
    expect(answers).toEqual([[['late']], [['late']], [['late']]]);
    await opens(client);
    expect(await fails()).toMatch(OPEN);
  });

  it('makes nobody wait for a sign of life that does not come', TIMED, async () => {
    const settings = { ...QUICK, probeTimeoutMs: 600 };
    const { fake, client, fails } = guarded(settings);
    fake.answer = () => Promise.reject(timeout());
    await fails();
    await opens(client);
    fake.answer = () => new Promise(() => undefined);
    const start = performance.now();
    let slowest = 0;
    while (performance.now() - start < 300) {
      const begun = performance.now();
      expect(await fails()).toMatch(OPEN);
      slowest = Math.max(slowest, performance.now() - begun);
      await sleep(2);
    }
    expect(fake.probes).toBeGreaterThan(0);
    expect(slowest).toBeLessThan(settings.probeTimeoutMs / 2);
  });

  it('does not open again for what began before it closed', async () => {
    const { fake, client, fails } = guarded();
    let end = (): void => undefined;
    fake.answer = () =>
      new Promise((_, reject) => {
        end = () => reject(timeout());
      });
    const hanging = fails();
    const endHanging = end;
    fake.answer = () => Promise.reject(timeout());
    await fails();
    await opens(client);
    fake.answer = async () => [];
    await closes(client);
    endHanging();
    expect(await hanging).toBe('unclear: no answer in time');
    expect(client.circuit('writer')).toBe('closed');
  });

  it('asks for a sign of life where another instance found the role down, and opens without one, telling nobody', async () => {
    const { fake, told, client, fails } = guarded();
    fake.alive = () => new Promise(() => undefined);
    client.doubt('writer');
    expect(await fails()).toMatch(OPEN);
    fake.alive = undefined;
    await closes(client);
    expect(told).toEqual(['writer, elsewhere']);
    expect(fake.statements).toBe(0);
  });

  it('fails no statement for what another instance found, where a sign of life comes', async () => {
    const { fake, told, client, select } = guarded();
    fake.alive = () => sleep(QUICK.probeTimeoutMs / 2, [['alive']]);
    fake.answer = async () => [['answered']];
    client.doubt('writer');
    expect(await Promise.all(Array.from({ length: 4 }, () => select()))).toEqual(
      Array.from({ length: 4 }, () => [['answered']]),
    );
    expect([fake.probes, told]).toEqual([1, []]);
  });

  it('makes the first statements after a freeze wait for the sign of life that was due in it, and fails none', async () => {
    const { fake, client, select, fails } = guarded({ probeAfterMs: 10_000 });
    fake.answer = () => Promise.reject(timeout());
    await fails();
    await opens(client);
    fake.alive = () => sleep(5, [['alive']]);
    fake.answer = async () => [['answered']];
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 15_000 });
    try {
      expect(await Promise.all(Array.from({ length: 4 }, () => select()))).toEqual(
        Array.from({ length: 4 }, () => [['answered']]),
      );
    } finally {
      vi.useRealTimers();
    }
  });

  it('asks again for a sign of life that this process was not awake to hear', async () => {
    const circuitAfterStall = async (standstill: Standstill): Promise<string> => {
      const settings = { ...QUICK, probeAfterMs: 10_000, probeTimeoutMs: 300 };
      const { fake, client, fails } = guarded(settings, { standstill });
      // The answer is due long before the time limit, which fires first when the process wakes.
      fake.alive = () => sleep(settings.probeTimeoutMs / 3).then(() => sleep(1, [['alive']]));
      fake.answer = () => Promise.reject(timeout());
      await fails();
      await expect.poll(() => fake.probes, { interval: 1 }).toBe(1);
      const end = performance.now() + 700;
      while (performance.now() < end);
      await sleep(settings.probeTimeoutMs + 5);
      return client.circuit('writer');
    };
    expect(await circuitAfterStall(watchStandstill())).toBe('closed');
    expect(await circuitAfterStall({ since: () => false })).toBe('open');
  });
});
