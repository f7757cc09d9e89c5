import type { NewCell } from '../../../shared/cell.ts';
import { schemalessClient } from '../../../shared/client/client.ts';
import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';
import { storeOf } from '../../support/store-of.ts';
import { DATASTORE } from '../../support/store-access.ts';
import { Ledger, type Written } from '../load/ledger.ts';
import { unconfirmed } from '../load/write-target.ts';
import { ackedCells, type AckedCell } from '../stored-cells.ts';
import type { AnsweredPut } from './answered-puts.ts';

export interface LoadPlan {
  readonly url: string;
  readonly seed: string;
  /** Accepted writes a second at best. @default measured first, with the latency of a gentle load */
  readonly normal?: Normal | undefined;
  readonly overloadSeconds: number;
  /** The length of a gentle load after the overload; 0: none. */
  readonly recoverySeconds: number;
  /** The wait for requests that are still under way then. */
  readonly patienceSeconds: number;
  /** `unbounded`: the client repeats what is refused until it is accepted. */
  readonly retries: 'as they are' | 'unbounded';
}

export interface Normal {
  readonly peak: number;
  /** The p99 of a load of a tenth of that, in milliseconds. */
  readonly gentleP99: number;
}

export interface LoadResult {
  readonly normal: Normal;
  /** Requests due a second during the overload, and the started ones. */
  readonly offered: number;
  readonly requests: number;
  readonly tries: number;
  /** Accepted writes a second during the overload, once it had set in. */
  readonly goodput: number;
  /** After the overload; undefined when the latency stayed high. */
  readonly recoverySeconds: number | undefined;
  /** The p99 time of a try until any answer, or so far, in milliseconds. */
  readonly waitedP99: number;
  readonly refusals: Readonly<Record<'count' | 'withoutRetryAfter', number>>;
  /** The p99 delay of the load itself in starting requests, in milliseconds. */
  readonly latenessP99: number;
  readonly open: number;
  readonly written: Written;
  readonly refusedCells: readonly AckedCell[];
}

export interface LoadProgress {
  readonly line?: string;
  readonly result?: LoadResult;
}

interface PutClientOptions extends Pick<LoadPlan, 'url' | 'seed' | 'retries'> {
  readonly name: string;
}

export type PutClient = ReturnType<typeof putClient>;

/** A column without index and trigger: a put is one statement on a secondary and one on the primary. */
const COLUMN = 'RECEIPT';
const NOTE_LENGTH = 200;
/** Some refused cells, to show that a missing cell is not found. */
const REFUSED_CELLS = 1000;
/** More than the tries of a load. */
const UNBOUNDED = 100_000;

export function putClient({ url, seed, retries, name }: PutClientOptions) {
  const counted = countedFetch();
  const client = storeOf(
    schemalessClient({
      url,
      datastore: DATASTORE,
      fetch: counted.fetch,
      ...(retries === 'unbounded' && { attempts: UNBOUNDED, retryBudget: false }),
    }),
  );
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
    /** Writes one cell, and returns whether it was accepted. Never rejects for what the server refused. */
    async put(dueAt = performance.now()): Promise<boolean> {
      latenessMs.push(performance.now() - dueAt);
      const cell = nextCell();
      const result = await client.put(cell).catch(unconfirmed);
      const accepted =
        result.outcome === 'stored' || result.outcome === 'stored_before' || result.outcome === 'buffered';
      puts.push({ dueAt, endedAt: performance.now(), accepted });
      ledger.note(cell, result);
      if (!accepted && refusedCells.length < REFUSED_CELLS) refusedCells.push(...ackedCells([cell]));
      return accepted;
    },
    written: () => ledger.written(),
  };
}

const REFUSED = 503;

/** Returns a fetch that counts the tries and the 503 answers, and times each try, finished or not. */
function countedFetch() {
  const answeredMs: number[] = [];
  const open = new Set<{ readonly at: number }>();
  const counts = { tries: 0, refused: 0, withoutRetryAfter: 0 };
  return {
    counts,
    async fetch(...[input, init]: Parameters<typeof globalThis.fetch>) {
      counts.tries += 1;
      const sent = { at: performance.now() };
      open.add(sent);
      const response = await fetch(input, init).finally(() => open.delete(sent));
      answeredMs.push(performance.now() - sent.at);
      if (response.status === REFUSED) {
        counts.refused += 1;
        if (response.headers.get('retry-after') === null) counts.withoutRetryAfter += 1;
      }
      return response;
    },
    waitedMs: () => [...answeredMs, ...Array.from(open, ({ at }) => performance.now() - at)],
  };
}
