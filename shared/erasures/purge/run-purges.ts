import { once } from 'node:events';
import type { Purge } from '../../contract/retention-operations.ts';
import { SchemalessError } from '../../errors.ts';
import { pauseFor } from '../../pause-for.ts';
import { SqlError, type SqlClient } from '../../sql/client.ts';
import { isGone } from '../../sql/gone.ts';
import type { ErasureWork } from '../carry-out.ts';
import { sharesStorage } from '../../access/groups.ts';
import { readPurge, writePurge, type PurgePlace, type PurgeState } from './purge-record.ts';
import { writeOver } from './write-over.ts';
import { measureTable, rebuildTable, refusalIn } from '../statements/rebuild-table.ts';
import { isRebuilding, selectRebuilding } from '../statements/select-rebuilding.ts';
import {
  nameOf,
  selectStoredTable,
  selectStoredTables,
  toStoredTables,
  type StoredTable,
} from '../statements/select-stored-tables.ts';

export interface PurgeRun extends Pick<ErasureWork, 'context' | 'stateTable'> {
  /** Of the lease under which it works. */
  readonly token: number;
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
  /** Once tables are done, servers with files of their own write over their own logs. @default true */
  readonly writesOver?: boolean;
}

const LOOK_MS = 15_000;
/** Looks that are left out, at most, at a purge of which nothing could be done: an hour. */
const LONGEST_PAUSE_LOOKS = 240;
/** Times that writing over a server's own logs is hindered, as by a full disk, until it is given up: most of a day. */
const MOST_HINDERED = 24;

/** Goes on with the purges of all datastores, until the signal. */
export async function runPurges(run: PurgeRun): Promise<void> {
  const { context, stateTable, settings = {}, failed = () => undefined, signal } = run;
  const { lookMs = LOOK_MS } = settings;
  /** Of purges of which nothing could be done the last time: they come ever more seldom. */
  const waiting = new Map<string, { readonly asked: string; readonly pauseMs: number; readonly nextAt: number }>();
  while (!signal.aborted) {
    try {
      for (const datastore of await context.topology.datastores()) {
        const state = signal.aborted ? undefined : await readPurge(stateTable, datastore);
        if (state?.purge.state !== 'purging') continue;
        const asked = state.purge.requested_at;
        const last = waiting.get(datastore);
        const before = last?.asked === asked ? last : undefined;
        if (before && performance.now() < before.nextAt) continue;
        const purging = new Purging(run, datastore, state);
        await purging.run();
        waiting.delete(datastore);
        if (purging.hasDone) continue;
        const pauseMs = Math.min(LONGEST_PAUSE_LOOKS * lookMs, 2 * (before?.pauseMs ?? lookMs / 2));
        waiting.set(datastore, { asked, pauseMs, nextAt: performance.now() + pauseMs });
      }
    } catch (error) {
      failed(error);
    }
    await pauseFor(lookMs, signal);
  }
}

/** A group that cannot be worked on now, and why. */
class NotNow extends Error {}

const NOT_CUT = 'undo logs are not cut yet, as where a transaction is open for long';

/** The server refuses a table, and may take others. */
class Refused extends NotNow {}

class Purging {
  readonly #run: PurgeRun;
  readonly #datastore: string;
  #state: PurgeState;
  /** Any table was written anew, or any part of a log written over. */
  hasDone = false;

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
      ...(isDone && { state: 'purged', purged_at: new Date().toISOString(), logs_left: this.#left() }),
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
      try {
        await this.#purgeTable(group, client, table);
      } catch (error) {
        if (!isOfTable(error)) throw error;
        await this.#noteFailed(group, nameOf(table), error.message);
      }
      await pauseFor((performance.now() - begun) * (settings.rest ?? 1), signal);
    }
    if (signal.aborted) return;
    const { after, failed = {} } = this.#placeOf(group);
    const [first, ...others] = Object.entries(failed);
    const more = others.length === 0 ? '' : `, and ${others.length} more tables`;
    if (first) throw new NotNow(`${first[0]}: ${first[1]}${more}`);
    const { isDone = false } = this.#placeOf(group);
    if (isDone) return;
    const left = await this.#writeOver(group, client);
    if (signal.aborted) return;
    await this.#write({}, { group, place: { after, isDone: true, ...(left !== undefined && { left }) } });
  }

  /** Returns what may be left, and why. Throws `NotNow`. */
  async #writeOver(group: string, client: SqlClient): Promise<string | undefined> {
    const { context, settings = {}, signal } = this.#run;
    if (settings.writesOver === false) return 'nobody wanted it';
    if (await sharesStorage(context.topology, group))
      return 'its servers share their storage, which nobody can write over';
    const { writeOverAt = 0, writtenOver: before, hindered } = this.#placeOf(group);
    if (Date.now() < writeOverAt) throw new NotNow(hindered?.why ?? NOT_CUT);
    const done = await writeOver(client, {
      signal,
      before,
      noted: async (writtenOver) => {
        await this.#write({}, { group, place: { ...this.#placeOf(group), writtenOver } });
        this.hasDone = true;
      },
    });
    if (done === 'done') return undefined;
    if (done === 'not yet') return this.#writeOverLater(group);
    if ('hindered' in done) {
      const why = done.hindered.slice(0, WHY_LENGTH);
      const times = (hindered?.times ?? 0) + 1;
      return times < MOST_HINDERED ? this.#writeOverLater(group, { why, times }) : why;
    }
    return done.refused.slice(0, WHY_LENGTH);
  }

  /** Ever later, which who goes on with it heeds, too: each time takes room, and makes undo logs grow that nothing cuts. */
  async #writeOverLater(group: string, hindered?: PurgePlace['hindered']): Promise<never> {
    const { settings: { lookMs = LOOK_MS } = {}, signal } = this.#run;
    const { hindered: _before, ...place } = this.#placeOf(group);
    const writeOverMs = Math.min(LONGEST_PAUSE_LOOKS * lookMs, 2 * (place.writeOverMs ?? lookMs / 2));
    const writeOverAt = Date.now() + writeOverMs;
    const next = { ...place, writeOverMs, writeOverAt, ...(hindered && { hindered }) };
    if (!signal.aborted) await this.#write({}, { group, place: next });
    throw new NotNow(hindered?.why ?? NOT_CUT);
  }

  #left(): string | null {
    const left = Object.entries(this.#state.places).flatMap(([group, { left: why }]) =>
      why === undefined ? [] : [`${group}: ${why}`],
    );
    return left.length === 0 ? null : left.join('; ').slice(0, 500);
  }

  #noteFailed(group: string, name: string, why: string): Promise<void> {
    const { after, failed } = this.#placeOf(group);
    const place = { after: name > after ? name : after, failed: { ...failed, [name]: why.slice(0, WHY_LENGTH) } };
    return this.#write({}, { group, place });
  }

  /** Behind those that were written anew, and at last those that refused; none where all were. */
  async #tablesLeft(group: string, client: SqlClient): Promise<readonly StoredTable[]> {
    const { after, failed = {}, isDone = false } = this.#placeOf(group);
    if (isDone) return [];
    const tables = await this.#tables(client);
    return [
      ...tables.filter((table) => nameOf(table) > after),
      ...tables.filter((table) => nameOf(table) <= after && Object.hasOwn(failed, nameOf(table))),
    ];
  }

  async #purgeTable(group: string, client: SqlClient, found: StoredTable): Promise<void> {
    const name = nameOf(found);
    const place = this.#placeOf(group);
    const { [name]: _again, ...failed } = place.failed ?? {};
    // Whoever began it may have died, or given up, and the server went on.
    const wasDone = place.begun?.name === name && (await this.#isDone(client, found, place.begun.createdAt));
    let [before, after] = [0, 0];
    if (!wasDone) {
      await this.#ask(client, measureTable(found));
      const table = (await this.#tableNow(client, found)) ?? found;
      before = table.bytes;
      await this.#write({}, { group, place: { ...place, begun: { name, createdAt: table.createdAt } } });
      await this.#rebuild(client, table);
      // MySQL goes on answering what it found before.
      await this.#ask(client, measureTable(table));
      after = (await this.#tableNow(client, table))?.bytes ?? 0;
    }
    const { tables, bytes_before, bytes_after } = this.#state.purge;
    await this.#write(
      { tables: tables + 1, bytes_before: bytes_before + before, bytes_after: bytes_after + after },
      { group, place: { after: name > place.after ? name : place.after, failed } },
    );
    this.hasDone = true;
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
    const now = await this.#tableNow(client, table);
    return !now || now.createdAt !== createdBefore;
  }

  /** A server that is at it goes on when this run has to end: the next one finds it so. */
  async #ask(client: SqlClient, statement: ReturnType<typeof rebuildTable>): Promise<void> {
    const { signal } = this.#run;
    if (signal.aborted) throw new NotNow('the next run goes on with it');
    const answered = new AbortController();
    const ended = once(signal, 'abort', { signal: answered.signal }).then((): never => {
      throw new NotNow('the next run goes on with it');
    });
    const asked = client.select(statement, 'writer');
    const rows = await Promise.race([asked, ended]).finally(() => answered.abort());
    const refusal = refusalIn(rows);
    if (refusal !== undefined && !/doesn't exist/u.test(refusal)) throw new Refused(refusal);
  }

  async #tables(client: SqlClient): Promise<readonly StoredTable[]> {
    return toStoredTables(await client.select(selectStoredTables(this.#datastore), 'writer'), this.#datastore);
  }

  async #tableNow(client: SqlClient, table: StoredTable): Promise<StoredTable | undefined> {
    return toStoredTables(await client.select(selectStoredTable(table), 'writer'), this.#datastore)[0];
  }

  #placeOf(group: string): PurgePlace {
    return this.#state.places[group] ?? { after: '' };
  }

  async #write(purge: Partial<Purge>, at?: { readonly group: string; readonly place: PurgePlace }): Promise<void> {
    const next: PurgeState = {
      purge: { ...this.#state.purge, ...purge },
      places: { ...this.#state.places, ...(at && { [at.group]: at.place }) },
    };
    if (!(await writePurge(this.#run.stateTable, this.#datastore, this.#run.token, next)))
      throw new SchemalessError('unavailable', 'another has tables written anew by now');
    this.#state = next;
  }
}

/** Between looks whether a server is still at a table for which nobody waits any more. */
const LOOK_AGAIN_MS = 2000;

/** Characters that are kept of why a table refused. */
const WHY_LENGTH = 200;

/** What keeps one table from being written anew, and no other. */
function isOfTable(error: unknown): error is Error {
  return error instanceof Refused || (error instanceof SqlError && isRefusal(error));
}

function isRefusal({ failure }: SqlError): boolean {
  return failure === 'rejected' || failure === 'contention';
}

function isExpected(error: unknown): error is Error {
  return error instanceof SqlError || error instanceof SchemalessError || error instanceof NotNow;
}
