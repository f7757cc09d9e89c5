import { setTimeout as sleep } from 'node:timers/promises';
import type { NewCell } from '../../../shared/cell.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { toNumber } from '../../../shared/sql/cell-rows.ts';
import type { SqlClient, SqlParameter } from '../../../shared/sql/client.ts';
import { CONTROL } from '../../../shared/sql/names.ts';
import { rowsOf } from '../../support/past-the-store.ts';
import { Random } from '../../support/random.ts';
import { PATIENT, groupClient, openStore, type GroupAccess, type StoreAccess } from '../../support/store-access.ts';
import { sumOf } from '../fault-run.ts';
import { noOutcomes, type Ledger, type Outcomes } from '../load/ledger.ts';
import { baseCell, rowKeyIn } from '../row-keys.ts';
import type { Stage } from '../stage.ts';

export type BufferTables = ReturnType<typeof openBufferTables>;

/** Opens every group's buffer table by plain SQL, past the store. */
export function openBufferTables(access: readonly GroupAccess[]) {
  const clients = new Map(access.map(({ name }) => [name, groupClient(access, name, { ...PATIENT, connections: 2 })]));
  const all = [...clients.keys()];
  const client = (group: string): SqlClient => {
    const found = clients.get(group);
    if (!found) throw new Error(`no group ${group}`);
    return found;
  };
  return {
    groups: all,
    client,
    rows: async (sql: string, parameters: readonly SqlParameter[], groups: readonly string[] = all) =>
      (await Promise.all(groups.map((group) => rowsOf(client(group), sql, parameters)))).flat(),
    async [Symbol.asyncDispose]() {
      await Promise.all([...clients.values()].map((one) => one.close()));
    },
  };
}

/** Counts rows of these groups in a state. @default those that wait to be drained */
export async function countRows(
  tables: BufferTables,
  groups: readonly string[],
  state: 'waiting' | 'parked' = 'waiting',
): Promise<number> {
  const counts = await tables.rows(`SELECT COUNT(*) FROM ${CONTROL}.buffer WHERE state = ?`, [state], groups);
  return sumOf(counts.map(([count]) => toNumber(count)));
}

interface Awaited {
  /** Milliseconds since 1970: waits for rows that were buffered earlier. */
  readonly before: number;
  readonly patienceMs: number;
}

const POLL_MS = 250;

/** Waits until no row waits that was buffered before a moment. Returns whether that was in time. */
export async function comesToDrained(
  stage: Stage,
  tables: BufferTables,
  { before, patienceMs }: Awaited,
): Promise<boolean> {
  // Selects the oldest alone, so that frequent polls cost nothing. The time comes first in the text.
  const sql = `SELECT created_at < FROM_UNIXTIME(?) FROM ${CONTROL}.buffer WHERE state = 'waiting' ORDER BY id LIMIT 1`;
  const isDrained = async (): Promise<boolean> =>
    (await tables.rows(sql, [before / 1000])).every(([isEarlier]) => toNumber(isEarlier) !== 1);
  return await stage.comes(isDrained, { pollMs: POLL_MS, patienceMs });
}

interface Tries {
  readonly access: StoreAccess;
  readonly shards: ReadonlySet<number>;
  readonly puts: number;
  readonly random: Random;
  readonly wrap?: (client: SqlClient) => SqlClient;
}

/** Puts new cells to some shards, one after the other, through a store opened for it. Returns the answers. */
export async function tryPuts({ access, shards, puts, random, wrap = (client) => client }: Tries): Promise<Outcomes> {
  await using store = await openStore(access, { wrap });
  const outcomes = noOutcomes();
  for (let tried = 0; tried < puts; tried += 1)
    outcomes[
      (await store.datastore.put(baseCell(rowKeyIn(random, shards, store.datastore.shards), { tried }))).outcome
    ] += 1;
  return outcomes;
}

interface Backlog {
  readonly datastore: Pick<Datastore, 'batchPut' | 'shards'>;
  readonly shards: ReadonlySet<number>;
  readonly seed: string;
  readonly ledger: Ledger;
  readonly signal: AbortSignal;
}

const BATCH = 100;
const PAUSE_MS = 50;

/** Writes batches of cells, in parallel with everything else, until enough wait. */
export async function addToBacklog(
  { datastore, shards, seed, ledger, signal }: Backlog,
  isEnough: () => Promise<boolean>,
): Promise<void> {
  const random = new Random(seed, 'backlog', 0);
  while (!(await isEnough())) {
    const cells = Array.from({ length: BATCH }, (_, number) =>
      baseCell(rowKeyIn(random, shards, datastore.shards), { number, note: 'b'.repeat(random.integer(0, 120)) }),
    );
    const results = await datastore.batchPut(cells);
    for (const [position, result] of results.entries()) ledger.note(cells[position] as NewCell, result);
    await sleep(PAUSE_MS, undefined, { signal });
  }
}
