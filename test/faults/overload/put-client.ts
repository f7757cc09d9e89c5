import type { NewCell } from '../../../shared/cell.ts';
import { schemalessClient } from '../../../shared/client/client.ts';
import { Random } from '../../support/random.ts';
import { Ledger, type Written } from '../load/ledger.ts';
import { markOf, type AckedCell } from '../stored-cells.ts';
import { randomRowKey } from '../../support/row-key.ts';
import { DATASTORE } from '../../support/store-access.ts';
import type { AnsweredPut } from './answered-puts.ts';
import type { LoadPlan } from './load-plan.ts';
import { unconfirmed } from '../load/write-target.ts';

export interface PutClientOptions extends Pick<LoadPlan, 'url' | 'seed' | 'retries'> {
  /** Tells the cells of one client from those of others. */
  readonly name: string;
}

/** A client that writes new cells, and keeps book. */
export interface PutClient {
  readonly counted: CountedFetch;
  /** Of the puts that have ended. */
  readonly puts: readonly AnsweredPut[];
  readonly started: number;
  readonly refusedCells: readonly AckedCell[];
  /** How late each put was started, in milliseconds. */
  readonly latenessMs: readonly number[];
  /** Writes one cell, and returns whether it was accepted. Never rejects for what the server refused. */
  put(dueAt?: number): Promise<boolean>;
  written(): Written;
}

/** No index and no trigger knows it: a put is one statement on a secondary and one on the primary. */
const COLUMN = 'RECEIPT';
const NOTE_LENGTH = 200;
/** Some cells that were refused, to show that what is not there is not found. */
const REFUSED_CELLS = 1000;
/** More than a load lasts. */
const UNBOUNDED = 100_000;

export function putClient({ url, seed, retries, name }: PutClientOptions): PutClient {
  const counted = countedFetch();
  const client = schemalessClient({
    url,
    datastore: DATASTORE,
    fetch: counted.fetch,
    ...(retries === 'unbounded' && { attempts: UNBOUNDED, retryBudget: false }),
  });
  const random = new Random(seed, `overload/${name}`, 0);
  const ledger = new Ledger();
  const [puts, latenessMs, refusedCells]: [AnsweredPut[], number[], AckedCell[]] = [[], [], []];
  let started = 0;

  function nextCell(): NewCell {
    started += 1;
    const body = { name, number: started, note: 'n'.repeat(NOTE_LENGTH) };
    return { row_key: randomRowKey(random), column_name: COLUMN, ref_key: 1, body };
  }

  return {
    counted,
    puts,
    get started() {
      return started;
    },
    refusedCells,
    latenessMs,
    async put(dueAt = performance.now()) {
      latenessMs.push(performance.now() - dueAt);
      const cell = nextCell();
      const result = await client.put(cell).catch(unconfirmed);
      const accepted =
        result.outcome === 'stored' || result.outcome === 'stored_before' || result.outcome === 'buffered';
      puts.push({ dueAt, endedAt: performance.now(), accepted });
      ledger.note(cell, result);
      if (!accepted && refusedCells.length < REFUSED_CELLS)
        refusedCells.push({ ...cell, mark: markOf(cell), shard: result.shard, added_id: 0 });
      return accepted;
    },
    written: () => ledger.written(),
  };
}

/** A fetch that keeps count of what passes through it. */
export interface CountedFetch {
  readonly fetch: typeof globalThis.fetch;
  /** Requests sent, each try by itself. */
  readonly tries: number;
  /**
   * How long each try took to be answered, whatever the answer was, in milliseconds; one that is still open has taken
   * so long so far.
   */
  waitedMs(): readonly number[];
  /** Tries that were answered 503. */
  readonly refused: number;
  /** Of those, how many did not say when to come again. */
  readonly withoutRetryAfter: number;
}

const REFUSED = 503;

export function countedFetch(): CountedFetch {
  const answeredMs: number[] = [];
  const open = new Set<{ readonly at: number }>();
  let [tries, refused, withoutRetryAfter] = [0, 0, 0];
  return {
    async fetch(input, init) {
      tries += 1;
      const sent = { at: performance.now() };
      open.add(sent);
      const response = await fetch(input, init).finally(() => open.delete(sent));
      answeredMs.push(performance.now() - sent.at);
      if (response.status === REFUSED) {
        refused += 1;
        if (response.headers.get('retry-after') === null) withoutRetryAfter += 1;
      }
      return response;
    },
    get tries() {
      return tries;
    },
    waitedMs: () => [...answeredMs, ...Array.from(open, ({ at }) => performance.now() - at)],
    get refused() {
      return refused;
    },
    get withoutRetryAfter() {
      return withoutRetryAfter;
    },
  };
}
