import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Purge } from '../../../shared/contract/retention-operations.ts';
import { runPurges } from '../../../shared/erasures/purge/run-purges.ts';
import { createFiller, dropFiller, fillFiller, rewriteFiller } from '../../../shared/erasures/statements/filler.ts';
import { selectServerLogs } from '../../../shared/erasures/statements/select-server-logs.ts';
import { SqlError } from '../../../shared/sql/client.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';
import { comes } from '../../support/until.ts';
import { openEraser, type Eraser } from './support.ts';

// Tables are written anew before, on servers that others use, too.
const FILL = fillFiller().sql;
const REWRITE = rewriteFiller().sql;
const OF_FILLER: readonly string[] = [createFiller().sql, FILL, REWRITE, dropFiller().sql];
const NOTHING = { affectedRows: 0, insertId: 0 };

let store: RealStore;
let eraser: Eraser;
/** What servers answer to statements of the table by which they write over their logs, and how often they were asked. */
let refusal: (sql: string) => SqlError | undefined = () => undefined;
const asked = new Map<string, number>();

beforeAll(async () => {
  store = await openRealStore({
    datastores: { hindered: 1 },
    wrap: (client) => ({
      ...client,
      async select(statement, target) {
        if (statement.sql !== selectServerLogs().sql) return client.select(statement, target);
        return [['innodb_log_file_size', String(1024 ** 3)]];
      },
      async change(statement) {
        const { sql } = statement;
        if (!OF_FILLER.includes(sql)) return client.change(statement);
        asked.set(sql, (asked.get(sql) ?? 0) + 1);
        const refused = refusal(sql);
        if (refused) throw refused;
        return NOTHING;
      },
    }),
  });
  eraser = await openEraser(store, 'hindered');
});
beforeEach(() => asked.clear());
afterAll(async () => {
  await eraser[Symbol.asyncDispose]();
  await store.close();
});

const purge = async (): Promise<Purge | null> => (await eraser.retention.retention()).purge;

/** Purges, until something comes. */
async function purgeUntil(lookMs: number, patienceMs: number, isThere: () => boolean | Promise<boolean>) {
  await eraser.retention.purge();
  const ending = new AbortController();
  const { context } = store;
  const settings = { lookMs, rest: 0 };
  const running = runPurges({ context, stateTable: eraser.stateTable, token: 1, settings, signal: ending.signal });
  const came = await comes(isThere, { patienceMs, pollMs: 20 });
  ending.abort();
  await running;
  return came;
}

it('gives up on a disk that stays full after a day of tries at most, and says so in the record', async () => {
  refusal = (sql) => (sql === FILL ? new SqlError('rejected', 'the disk is full', { errno: 1114 }) : undefined);
  let saidMeanwhile: string | null | undefined;
  const isPurged = async (): Promise<boolean> => {
    const now = await purge();
    saidMeanwhile ??= now?.waits_for;
    return now?.state === 'purged';
  };
  expect(await purgeUntil(1, 60_000, isPurged)).toBe(true);
  expect(saidMeanwhile).toContain('the disk is full');
  const { logs_left, waits_for } = (await purge()) ?? {};
  expect(waits_for).toBeNull();
  for (const { name } of store.groups) expect(logs_left).toContain(`${name}: the disk is full`);
  expect(asked.get(FILL)).toBe(24 * store.groups.length);
});

it('goes on at the next look where a run has written over a part before a server went away', async () => {
  let rewrites = 0;
  refusal = (sql) => {
    if (sql !== REWRITE) return undefined;
    rewrites += 1;
    return rewrites % 2 === 0 ? new SqlError('unreachable', 'a test') : undefined;
  };
  // Ten runs of two statements on each group: pauses that double would come to 50 seconds.
  expect(await purgeUntil(100, 20_000, () => rewrites >= 20 * store.groups.length)).toBe(true);
});
