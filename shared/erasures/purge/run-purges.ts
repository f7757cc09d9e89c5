import { once } from 'node:events';
import type { Purge } from '../../contract/retention-operations.ts';
import { SchemalessError } from '../../errors.ts';
import { pauseFor } from '../../pause-for.ts';
import { SqlError, type SqlClient } from '../../sql/client.ts';
import { isGone } from '../../sql/gone.ts';
import type { ErasureWork } from '../carry-out.ts';
import { readPurge, writePurge, type PurgePlace, type PurgeState } from './purge-record.ts';
import { measureTable, rebuildTable, refusalIn } from '../statements/rebuild-table.ts';
import { isRebuilding, selectRebuilding } from '../statements/select-rebuilding.ts';
import { nameOf, selectStoredTables, toStoredTables, type StoredTable } from '../statements/select-stored-tables.ts';

export interface PurgeRun extends Pick<ErasureWork, 'context' | 'stateTable'> {
  readonly settings?: PurgeSettings;
  readonly failed?: (error: unknown) => void;
  /** Of each table, and at the end. @default nobody wants to know */
  readonly purged?: (datastore: string, purge: Purge) => void;
  readonly signal: AbortSignal;
}

export interface PurgeSettings {
  /** Between looks for one that was asked for. @default 15,000 */
  readonly lookMs?: number;
  /** Pause after a table, as a part of how long it took. @default 1: half of the time */
  readonly rest?: number;
}

const LOOK_MS = 15_000;

/** Goes on with the purges of all datastores, until the signal. */
export async function runPurges(run: PurgeRun): Promise<void> {
  const { context, stateTable, settings = {}, failed = () => undefined, signal } = run;
  while (!signal.aborted) {
    try {
      for (const datastore of await context.topology.datastores()) {
        const state = signal.aborted ? undefined : await readPurge(stateTable, datastore);
        if (state?.purge.state === 'purging') await new Purging(run, datastore, state).run();
      }
    } catch (error) {
      failed(error);
    }
    await pauseFor(settings.lookMs ?? LOOK_MS, signal);
  }
}

/** A group that cannot be worked on now, and why. */
class NotNow extends Error {}

class Purging {
  readonly #run: PurgeRun;
  readonly #datastore: string;
  #state: PurgeState;

  constructor(run: PurgeRun, datastore: string, state: PurgeState) {
    this.#run = run;
    this.#datastore = datastore;
    this.#state = state;
  }

  /** All groups, one after the other: one that is away keeps none of the others waiting. */
  async run(): Promise<void> {
    const { context, signal } = this.#run;
    const groups = (await context.groups.namesNow()).toSorted();
    await this.#count(groups);
    const waiting: string[] = [];
    for (const group of groups) {
      if (signal.aborted) return;
      try {
        await this.#purgeGroup(group, await context.groups.client(group));
      } catch (error) {
        if (!isExpected(error)) throw error;
        waiting.push(`${group}: ${error.message}`);
      }
    }
    if (signal.aborted) return;
    const isDone = waiting.length === 0;
    await this.#write({
      waits_for: isDone ? null : waiting.join('; ').slice(0, 500),
      ...(isDone && { state: 'purged', purged_at: new Date().toISOString() }),
    });
  }

  /** How many tables there are, as far as groups answer. */
  async #count(groups: readonly string[]): Promise<void> {
    let left = 0;
    for (const group of groups) {
      const client = await this.#run.context.groups.client(group);
      left += (await this.#tablesLeft(group, client).catch(() => [])).length;
    }
    await this.#write({ of: this.#state.purge.tables + left });
  }

  async #purgeGroup(group: string, client: SqlClient): Promise<void> {
    const { signal, settings = {} } = this.#run;
    for (const table of await this.#tablesLeft(group, client)) {
      if (signal.aborted) return;
      const begun = performance.now();
      await this.#purgeTable(group, client, table);
      await pauseFor((performance.now() - begun) * (settings.rest ?? 1), signal);
    }
    if (!signal.aborted) await this.#write({}, { group, place: { after: this.#placeOf(group).after, isDone: true } });
  }

  /** Behind those that were written anew; none where all were. */
  async #tablesLeft(group: string, client: SqlClient): Promise<readonly StoredTable[]> {
    const place = this.#placeOf(group);
    return place.isDone ? [] : (await this.#tables(client)).filter((table) => nameOf(table) > place.after);
  }

  async #purgeTable(group: string, client: SqlClient, found: StoredTable): Promise<void> {
    const name = nameOf(found);
    const place = this.#placeOf(group);
    // Whoever began it may have died, or given up, and the server went on.
    const wasDone = place.begun?.name === name && (await this.#isDone(client, found, place.begun.createdAt));
    let [before, after] = [0, 0];
    if (!wasDone) {
      await this.#ask(client, measureTable(found));
      const table = (await this.#tableNow(client, name)) ?? found;
      before = table.bytes;
      await this.#write({}, { group, place: { after: place.after, begun: { name, createdAt: table.createdAt } } });
      await this.#rebuild(client, table);
      // MySQL goes on answering what it found before.
      await this.#ask(client, measureTable(table));
      after = (await this.#tableNow(client, name))?.bytes ?? 0;
    }
    const { tables, bytes_before, bytes_after } = this.#state.purge;
    await this.#write(
      { tables: tables + 1, bytes_before: bytes_before + before, bytes_after: bytes_after + after },
      { group, place: { after: name } },
    );
    this.#run.purged?.(this.#datastore, this.#state.purge);
  }

  /** Also done where it was dropped meanwhile. Throws `NotNow`. */
  async #rebuild(client: SqlClient, table: StoredTable): Promise<void> {
    try {
      await this.#ask(client, rebuildTable(table));
      return;
    } catch (error) {
      if (isGone(error)) return;
      if (!(error instanceof SqlError) || error.failure !== 'unclear') throw error;
    }
    if (await this.#isDone(client, table, table.createdAt)) return;
    // Servers say by seconds when it was written anew: within one of before it is begun once more.
    throw new NotNow(`nobody knows whether ${nameOf(table)} was written anew`);
  }

  /** Whether a table that was begun was written anew, once the server is not at it any more. Throws `NotNow`. */
  async #isDone(client: SqlClient, table: StoredTable, createdBefore: string): Promise<boolean> {
    const { signal } = this.#run;
    while (isRebuilding(await client.select(selectRebuilding(table), 'writer'))) {
      await pauseFor(LOOK_AGAIN_MS, signal);
      if (signal.aborted) throw new NotNow(`${nameOf(table)} takes long`);
    }
    const now = await this.#tableNow(client, nameOf(table));
    return !now || now.createdAt !== createdBefore;
  }

  /** A server that is at it goes on when this run has to end: the next one finds it so. */
  async #ask(client: SqlClient, statement: ReturnType<typeof rebuildTable>): Promise<void> {
    const { signal } = this.#run;
    const answered = new AbortController();
    const ended = once(signal, 'abort', { signal: answered.signal }).then((): never => {
      throw new NotNow('the next run goes on with it');
    });
    const asked = client.select(statement, 'writer');
    const rows = await Promise.race([asked, ended]).finally(() => answered.abort());
    const refusal = refusalIn(rows);
    if (refusal !== undefined && !/doesn't exist/u.test(refusal)) throw new NotNow(refusal);
  }

  async #tables(client: SqlClient): Promise<readonly StoredTable[]> {
    return toStoredTables(await client.select(selectStoredTables(this.#datastore), 'writer'), this.#datastore);
  }

  async #tableNow(client: SqlClient, name: string): Promise<StoredTable | undefined> {
    return (await this.#tables(client)).find((table) => nameOf(table) === name);
  }

  #placeOf(group: string): PurgePlace {
    return this.#state.places[group] ?? { after: '' };
  }

  async #write(purge: Partial<Purge>, at?: { readonly group: string; readonly place: PurgePlace }): Promise<void> {
    const next: PurgeState = {
      purge: { ...this.#state.purge, ...purge },
      places: { ...this.#state.places, ...(at && { [at.group]: at.place }) },
    };
    await writePurge(this.#run.stateTable, this.#datastore, next);
    this.#state = next;
  }
}

/** Between looks whether a server is still at a table for which nobody waits any more. */
const LOOK_AGAIN_MS = 2000;

function isExpected(error: unknown): error is Error {
  return error instanceof SqlError || error instanceof SchemalessError || error instanceof NotNow;
}
