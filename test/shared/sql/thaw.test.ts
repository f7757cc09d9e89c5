import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openForwarder, type Forwarder } from '../../../infra/local/mysql/forwarder.ts';
import { SqlError, type SqlClient } from '../../../shared/sql/client.ts';
import { guardedClient, type GuardedClient } from '../../../shared/sql/guarded-client.ts';
import { clientTo, groupAccess, sharedClient } from '../../support/connection-to.ts';
import { sql } from '../../support/plain-sql.ts';
import { until } from '../../support/until.ts';

const CONNECTIONS = 8;
const DATABASE = `thaw_${randomUUID().replaceAll('-', '')}`;

let between: Forwarder;
let client: SqlClient;
let guarded: GuardedClient;
let told: string[];

beforeEach(async () => {
  const group = groupAccess();
  between = await openForwarder({ host: '127.0.0.1', port: 0, target: () => group.writer });
  const address = { ...group, writer: { host: between.host, port: between.port } };
  client = clientTo(address, { connections: CONNECTIONS, connectTimeoutMs: 30_000 });
  told = [];
  guarded = guardedClient(client, 'group-1', { onOpen: (role) => told.push(role) });
  await guarded.change(sql(`CREATE DATABASE ${DATABASE}`));
  await guarded.change(sql(`CREATE TABLE ${DATABASE}.marks (mark INT NOT NULL)`));
  await Promise.all(Array.from({ length: CONNECTIONS }, () => guarded.select(sql('SELECT SLEEP(0.1)'), 'writer')));
});
afterEach(async () => {
  vi.useRealTimers();
  await guarded.change(sql(`DROP DATABASE ${DATABASE}`)).catch(() => guarded.change(sql(`DROP DATABASE ${DATABASE}`)));
  await client.close();
  await between.close();
});

/** As for an instance that was frozen: it saw no event, and the clock of timers paused. */
function freeze(milliseconds: number): void {
  between.forgetConnections();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + milliseconds }); // Clock: as data
}

const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof SqlError ? error.failure : String(error)),
  );
const change = (): Promise<string> => outcome(guarded.change(sql(`INSERT INTO ${DATABASE}.marks VALUES (1)`)));
const select = (): Promise<string> => outcome(guarded.select(sql(`SELECT mark FROM ${DATABASE}.marks`), 'writer'));
const timesOf = (count: number, one: () => Promise<string>): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, one));
const done = (count: number): string[] => Array.from({ length: count }, () => 'done');

describe('an instance that was frozen, its connections forgotten', () => {
  it('does its first statements at once, none of them on what was idle for half a minute', async () => {
    freeze(31_000);
    expect(await timesOf(CONNECTIONS, change)).toEqual(done(CONNECTIONS));
    expect(await timesOf(CONNECTIONS, select)).toEqual(done(CONNECTIONS));
    expect([guarded.circuit('writer'), told]).toEqual(['closed', []]);
  });

  it('keeps the connections that were used a moment ago', async () => {
    const ids = async (): Promise<unknown> =>
      (
        await timesOf(3, async () =>
          String((await guarded.select(sql('SELECT CONNECTION_ID(), SLEEP(0.05)'), 'writer'))[0]?.[0]),
        )
      ).sort();
    const before = await ids();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 20_000 }); // Clock: as data
    expect(await ids()).toEqual(before);
  });

  it('loses one connection to one statement: what is tried again goes over a fresh one', async () => {
    freeze(5000);
    expect(await change()).toBe('unclear');
    expect(await change()).toBe('done');
  });

  it('gives six writes at once, each tried twice, to the node, and opens no circuit', async () => {
    freeze(5000);
    const first: string[] = [];
    const twice = async (): Promise<string> => {
      const once = await change();
      first.push(once);
      return once === 'unclear' ? await change() : once;
    };
    expect(await timesOf(6, twice)).toEqual(done(6));
    expect(first).toContain('unclear');
    expect([guarded.circuit('writer'), told]).toEqual(['closed', []]);
  });

  it('repeats by itself what changes nothing', async () => {
    freeze(5000);
    expect(await timesOf(CONNECTIONS, select)).toEqual(done(CONNECTIONS));
    expect([guarded.circuit('writer'), told]).toEqual(['closed', []]);
  });
});

describe('reads that a request left behind', () => {
  it('open no circuit when their time limits pass after the thaw, and keep nothing from being done', async () => {
    const address = { ...groupAccess(), writer: { host: between.host, port: between.port } };
    const hasty = clientTo(address, { connections: CONNECTIONS, connectTimeoutMs: 30_000, queryTimeoutMs: 2000 });
    const found: string[] = [];
    const instance = guardedClient(hasty, 'group-1', { onOpen: (role) => found.push(role) });
    try {
      await Promise.all(Array.from({ length: CONNECTIONS }, () => instance.select(sql('SELECT SLEEP(0.1)'), 'writer')));
      const left = timesOf(6, () => outcome(instance.select(sql('SELECT SLEEP(0.7)'), 'writer')));
      const running = "SELECT COUNT(*) FROM information_schema.processlist WHERE info = 'SELECT SLEEP(0.7)'";
      await until(
        'they are under way',
        async () => Number((await guarded.select(sql(running), 'writer'))[0]?.[0]) === 6,
      );
      freeze(180_000);
      // No answer to them ever comes; theirs are six of the eight connections.
      expect(await timesOf(2, () => outcome(instance.select(sql('SELECT 1'), 'writer')))).toEqual(done(2));
      // The time limit fell into the freeze, so they are retried.
      expect(await left).toEqual(done(6));
      expect(await timesOf(CONNECTIONS, () => outcome(instance.select(sql('SELECT 1'), 'writer')))).toEqual(
        done(CONNECTIONS),
      );
      expect([instance.circuit('writer'), found]).toEqual(['closed', []]);
    } finally {
      await hasty.close();
    }
  });
});

describe('a process that paused', () => {
  const processPause = { since: () => true };
  const hasty = sharedClient(undefined, { queryTimeoutMs: 300, processPause });
  const hurried = sharedClient(undefined, { connectTimeoutMs: 1, processPause });

  it('does not take its own time limit for an outage', async () => {
    let probes = 0;
    const counted: SqlClient = {
      ...hasty,
      select: (statement, target) => (
        (probes += statement.sql === 'SELECT 1' ? 1 : 0),
        hasty.select(statement, target)
      ),
    };
    const instance = guardedClient(counted, 'group-1');
    await expect(instance.select(sql('SELECT SLEEP(5)'), 'writer')).rejects.toMatchObject({
      failure: 'unclear',
      wasPaused: true,
      timedOut: false,
    });
    expect([instance.circuit('writer'), probes]).toEqual(['closed', 0]);
  });

  it('gets the connections that it opens, though the time limit for them passed in the pause', async () => {
    const answers = timesOf(4, () => outcome(hurried.select(sql('SELECT SLEEP(0.1)'), 'writer')));
    expect(await answers).toEqual(done(4));
  });
});
