import { describe, expect, it, vi } from 'vitest';
import {
  LOCK_WAIT,
  SqlError,
  UNBOUNDED,
  type SqlClient,
  type SqlRow,
  type Statement,
} from '../../../shared/sql/client.ts';
import { guardedClient, type GuardOptions } from '../../../shared/sql/guarded-client.ts';
import { watchProcessPauses, type ProcessPause } from '../../../shared/sql/process-pause.ts';
import { fakeTimeOfEach, passes } from '../../support/fake-time.ts';

const QUICK = { failures: 3, slowMs: 40, silentMs: 50, probeAfterMs: 20, probeMostMs: 40, probeTimeoutMs: 60 };
const A_PROBE_MS = 200;
const STATEMENT: Statement = { sql: 'SELECT something', parameters: [] };

const timeout = (): SqlError => new SqlError('unclear', 'no answer in time', { timedOut: true });
const refused = (): SqlError => new SqlError('unreachable', 'connection refused');
const exhausted = (): SqlError => new SqlError('unreachable', 'all in use', { poolExhausted: true });
const duplicate = (): SqlError => new SqlError('duplicate', 'there already', { key: 'cell' });
const silence = (): Promise<never> => new Promise(() => undefined);

fakeTimeOfEach();

/**
 * A client that does as it is told, behind circuit breakers; counts what reaches it, and notes which circuits opened.
 */
function guarded(settings: Partial<typeof QUICK> = {}, more: GuardOptions = {}) {
  const fake = {
    statements: 0,
    /** Health checks of the writer that wrote, on a connection of their own. */
    written: 0,
    /** Whether writes answer, checks included. */
    writes: undefined as (() => Promise<readonly SqlRow[]>) | undefined,
    /** Health checks on a connection of their own; each also runs on any connection. */
    probes: 0,
    alive: undefined as (() => Promise<readonly SqlRow[]>) | undefined,
    answer: async (): Promise<readonly SqlRow[]> => [],
  };
  const ask = ({ sql, isolated }: Statement): Promise<readonly SqlRow[]> => {
    const isProbe = sql === 'SELECT 1';
    if (!isProbe) fake.statements += 1;
    else if (isolated === true) fake.probes += 1;
    return (isProbe ? fake.alive : undefined)?.() ?? fake.answer();
  };
  const raw: SqlClient = {
    abilities: { readsFromReaders: true, survivesDiskLoss: true, bounds: UNBOUNDED },
    nodes: 2,
    select: ask,
    change: async (statement) => {
      const isCheck = statement.sql.includes('health_check');
      if (isCheck && statement.isolated === true) fake.written += 1;
      await ((isCheck ? (fake.writes ?? fake.alive) : fake.writes)?.() ?? (isCheck ? fake.answer() : ask(statement)));
      return { affectedRows: 1, insertId: 1 };
    },
    close: async () => undefined,
  };
  const told: string[] = [];
  const client = guardedClient(raw, 'group-1', {
    settings: { ...QUICK, ...settings },
    processPause: { since: () => false },
    onOpen: (role, by) => told.push(`${role}, ${by}`),
    ...more,
  });
  const select = () => client.select(STATEMENT, 'writer');
  const fails = () => failureOf(select());
  const circuit = () => client.circuit('writer');
  const opens = async () => {
    fake.answer = () => Promise.reject(timeout());
    expect(await fails()).toBe('unclear: no answer in time');
    await passes(QUICK.probeTimeoutMs);
    expect(circuit()).toBe('open');
  };
  const closes = async () => {
    await passes(A_PROBE_MS);
    expect(circuit()).toBe('closed');
  };
  return { fake, told, client, select, fails, circuit, opens, closes };
}

const failureOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof SqlError ? `${error.failure}: ${error.message}` : String(error)),
  );
const OPEN = 'unreachable: the circuit of group-1, writer is open';

describe('a guarded client', () => {
  it('sends nothing more to a role after a time limit and an unanswered health check, until one is answered', async () => {
    const { fake, told, client, select, fails, opens, closes } = guarded();
    await opens();
    expect(await failureOf(client.change(STATEMENT))).toBe(OPEN);
    expect(fake.statements).toBe(1);
    const before = fake.probes;
    await passes(A_PROBE_MS);
    expect(fake.probes).toBeGreaterThan(before);
    expect(await fails()).toBe(OPEN);
    expect(told).toEqual(['writer, here']);
    fake.answer = async () => [['alive']];
    await closes();
    expect(await select()).toEqual([['alive']]);
  });

  it('leaves the other role and single nodes alone', async () => {
    const { fake, client, opens } = guarded();
    await opens();
    fake.answer = async () => [];
    await expect(client.select(STATEMENT, 'reader')).resolves.toEqual([]);
    await expect(client.select(STATEMENT, { node: 0 })).resolves.toEqual([]);
    expect([client.circuit('writer'), client.circuit('reader')]).toEqual(['open', 'closed']);
  });

  it('opens after some failures in a row, not after as many with successes between them', async () => {
    const { fake, select, fails, circuit } = guarded({ probeAfterMs: 10_000 });
    for (let round = 0; round < 4; round += 1) {
      fake.answer = () => Promise.reject(refused());
      for (let failure = 0; failure < QUICK.failures - 1; failure += 1) await fails();
      fake.answer = async () => [];
      await select();
    }
    fake.answer = () => Promise.reject(refused());
    for (let failure = 0; failure < QUICK.failures; failure += 1) expect(await fails()).toContain('refused');
    await passes(0);
    expect([circuit(), await fails()]).toEqual(['open', OPEN]);
  });

  it.each([
    ['a duplicate', duplicate()],
    ['a lock wait', new SqlError('contention', 'lock wait')],
    ['a refused statement', new SqlError('rejected', 'syntax')],
    ['no free connection', exhausted()],
  ])('does not take %s for an outage', async (_what, error) => {
    const { fake, fails, circuit } = guarded();
    fake.answer = () => Promise.reject(error);
    for (let attempt = 0; attempt < 10; attempt += 1) expect(await fails()).toContain(error.message);
    await passes(0);
    expect(circuit()).toBe('closed');
  });

  it('opens when all connections are in use, nothing has been answered for a while, and no health check succeeds', async () => {
    const { fake, select, fails, circuit } = guarded({ probeAfterMs: 10_000 });
    await select();
    fake.answer = () => Promise.reject(exhausted());
    await fails();
    expect([circuit(), fake.probes]).toEqual(['closed', 0]);
    await passes(QUICK.silentMs + 1);
    expect(await fails()).toContain('all in use');
    await passes(0);
    expect([circuit(), await fails()]).toEqual(['open', OPEN]);
  });

  it.each([
    ['a time limit that passed', 1, timeout],
    ['failures in a row', QUICK.failures, refused],
    ['all connections in use for long', 1, exhausted],
  ])(
    'takes %s for no evidence against a node that answers its health check, and reports nothing',
    async (_, times, failure) => {
      const { fake, told, fails, circuit } = guarded();
      fake.alive = async () => [['alive']];
      fake.answer = () => Promise.reject(failure());
      // From here on it counts how long nothing was answered.
      expect(circuit()).toBe('closed');
      for (let round = 1; round <= 3; round += 1) {
        await passes(QUICK.silentMs + 1);
        for (let attempt = 0; attempt < times; attempt += 1) await fails();
        await passes(0);
        expect(fake.probes).toBe(round);
      }
      await passes(A_PROBE_MS);
      expect([circuit(), told]).toEqual(['closed', []]);
    },
  );

  it('answers statements while it waits for a health check', async () => {
    const { fake, select, fails } = guarded();
    fake.alive = silence;
    fake.answer = () => Promise.reject(timeout());
    await fails();
    fake.answer = async () => [['answered']];
    expect(await select()).toEqual([['answered']]);
    expect(fake.probes).toBe(1);
  });

  it('opens after a time limit, whatever was answered before it asked', async () => {
    const { fake, select, opens } = guarded();
    fake.alive = silence;
    await Promise.all(Array.from({ length: 5 }, () => select()));
    await passes(1);
    await opens();
    expect(fake.statements).toBe(6);
  });

  it.each([
    ['an answer', async () => [['answered']]],
    ['a refusal', () => Promise.reject(duplicate())],
  ])('takes %s during a health check for the result of that check', async (_what, answer) => {
    const { fake, fails, circuit } = guarded();
    fake.alive = silence;
    fake.answer = () => Promise.reject(timeout());
    await fails();
    await passes(5);
    fake.answer = answer;
    await fails();
    await passes(A_PROBE_MS);
    expect(circuit()).toBe('closed');
  });

  it('takes slow for down if the health check is not answered either, and still gives the slow answers', async () => {
    const { fake, select, fails, circuit } = guarded({ probeAfterMs: 10_000 });
    fake.alive = silence;
    fake.answer = async () => (await passes(QUICK.slowMs + 1), [['late']]);
    for (let attempt = 0; attempt < QUICK.failures; attempt += 1) expect(await select()).toEqual([['late']]);
    await passes(QUICK.probeTimeoutMs);
    expect([circuit(), await fails()]).toEqual(['open', OPEN]);
  });

  it('lets no statement wait for an unanswered health check', async () => {
    const { fake, fails, opens } = guarded();
    await opens();
    fake.answer = silence;
    for (let round = 0; round < 30; round += 1) {
      await passes(10);
      expect(await fails()).toBe(OPEN);
    }
    expect(fake.probes).toBeGreaterThan(1);
  });

  it('does not open again for what began before it closed', async () => {
    const { fake, fails, circuit, opens, closes } = guarded();
    const hanging = Promise.withResolvers<never>();
    fake.answer = () => hanging.promise;
    const failure = fails();
    await opens();
    fake.answer = async () => [];
    await closes();
    fake.alive = silence;
    hanging.reject(timeout());
    expect(await failure).toBe('unclear: no answer in time');
    await passes(A_PROBE_MS);
    expect(circuit()).toBe('closed');
  });

  it('opens if another instance found the role down and no health check succeeds, and reports that it was another', async () => {
    const { fake, told, client, fails, closes } = guarded();
    fake.alive = silence;
    client.suspect('writer');
    const failure = fails();
    await passes(QUICK.probeTimeoutMs);
    expect(await failure).toBe(OPEN);
    fake.alive = undefined;
    await closes();
    expect(told).toEqual(['writer, elsewhere']);
    expect(fake.statements).toBe(0);
  });

  it('fails no statement for what another instance found if the health check succeeds', async () => {
    const { fake, told, client, select } = guarded();
    const alive = Promise.withResolvers<readonly SqlRow[]>();
    fake.alive = () => alive.promise;
    fake.answer = async () => [['answered']];
    client.suspect('writer');
    const answers = Promise.all([select(), select(), select()]);
    await passes(QUICK.probeTimeoutMs / 2);
    alive.resolve([['alive']]);
    expect(await answers).toEqual([[['answered']], [['answered']], [['answered']]]);
    expect([fake.probes, told]).toEqual([1, []]);
  });

  it('makes the first statements after a process pause wait for the health check due in it, and fails none', async () => {
    const { fake, select, opens } = guarded({ probeAfterMs: 10_000 });
    await opens();
    fake.alive = async () => [['alive']];
    fake.answer = async () => [['answered']];
    // The wall clock goes on, and no timer fires.
    vi.setSystemTime(Number(vi.getMockedSystemTime()) + 15_000);
    expect(await Promise.all([select(), select()])).toEqual([[['answered']], [['answered']]]);
  });

  describe('a writer whose writes stall while it answers reads', () => {
    const lockWait = () => new SqlError('contention', 'lock wait', { errno: LOCK_WAIT });
    const write = (client: SqlClient) => failureOf(client.change(STATEMENT));

    it.each([
      ['a time limit', timeout],
      ['a lock wait', lockWait],
    ])('gets no more writes after %s, and still all reads', async (_what, failure) => {
      const { fake, told, client, select, circuit } = guarded({ probeAfterMs: 10_000 });
      fake.writes = () => Promise.reject(failure());
      const failed = write(client);
      fake.writes = silence;
      await failed;
      await passes(QUICK.probeTimeoutMs);
      expect([await write(client), circuit(), told]).toEqual([OPEN, 'open', ['writer, here']]);
      for (let read = 0; read < 10; read += 1) expect(await select()).toEqual([]);
    });

    it('gets writes again once one is done', async () => {
      const { fake, client, closes } = guarded();
      fake.writes = silence;
      client.suspect('writer');
      fake.writes = () => Promise.reject(timeout());
      await write(client);
      fake.writes = undefined;
      await closes();
      expect(await write(client)).toBe('none');
    });

    it.each([
      ['is done', async () => []],
      ['is refused, as by a server that may only be read', () => Promise.reject(new SqlError('rejected', 'read-only'))],
    ])('is taken for well where a lock is waited for and the health check %s', async (_what, check) => {
      const { fake, client, circuit } = guarded();
      for (let round = 1; round <= 5; round += 1) {
        fake.writes = () => Promise.reject(lockWait());
        const failed = write(client);
        fake.writes = check as () => Promise<readonly SqlRow[]>;
        await failed;
        await passes(A_PROBE_MS);
        expect([fake.written, circuit()]).toEqual([round, 'closed']);
      }
    });

    it('is told of once where it answers nothing at all', async () => {
      const { fake, told, client, opens } = guarded({ probeAfterMs: 10_000 });
      await opens();
      fake.writes = silence;
      for (let failure = 0; failure < QUICK.failures; failure += 1) await write(client);
      await passes(A_PROBE_MS);
      expect(told).toEqual(['writer, here']);
    });
  });

  it('repeats a health check whose answer came in a process pause', async () => {
    let steady = 0;
    const circuitAfterStall = async (processPause: ProcessPause): Promise<string> => {
      const { fake, fails, circuit } = guarded({ probeAfterMs: 10_000 }, { processPause });
      fake.alive = silence;
      fake.answer = () => Promise.reject(timeout());
      await fails();
      expect(fake.probes).toBe(1);
      // Its answer came in the pause; the time limit fires first when the process wakes.
      steady += 100_000;
      fake.alive = async () => [['alive']];
      await passes(QUICK.probeTimeoutMs);
      return circuit();
    };
    expect(await circuitAfterStall(watchProcessPauses({ steady: () => steady, wall: () => 0 }))).toBe('closed');
    expect(await circuitAfterStall({ since: () => false })).toBe('open');
  });
});
