import type { NewCell } from '../../../shared/cell.ts';
import { schemalessClient } from '../../../shared/client/client.ts';
import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';
import { DATASTORE } from '../../support/store-access.ts';
import { Ledger, type Written } from '../load/ledger.ts';
import { unconfirmed } from '../load/write-target.ts';
import { markOf, type AckedCell } from '../stored-cells.ts';
import type { AnsweredPut } from './answered-puts.ts';

export interface LoadPlan {
  readonly url: string;
  readonly seed: string;
  /** Accepted writes a second at best. @default measured first, with the latency of a gentle load */
  readonly normal?: Normal | undefined;
  readonly overloadSeconds: number;
  /** How long a gentle load is watched after the overload; 0: it ends there. */
  readonly recoverySeconds: number;
  /** How long requests that are still under way then are waited for. */
  readonly patienceSeconds: number;
  /** `unbounded`: the client repeats what is refused until it is accepted. */
  readonly retries: 'as they are' | 'unbounded';
}

export interface Normal {
  readonly peak: number;
  /** Of a load of a tenth of that, in milliseconds. */
  readonly gentleP99: number;
}

export interface LoadResult {
  readonly normal: Normal;
  /** Requests due a second during the overload, and those that were started. */
  readonly offered: number;
  readonly requests: number;
  readonly tries: number;
  /** Accepted writes a second during the overload, once it had set in. */
  readonly goodput: number;
  /** After the overload; undefined when the latency stayed high. */
  readonly recoverySeconds: number | undefined;
  /** Until a try was answered, whatever the answer was, or so far: p99 in milliseconds. */
  readonly waitedP99: number;
  readonly refusals: Readonly<Record<'count' | 'withoutRetryAfter', number>>;
  /** By how much the load itself was late in starting requests, p99 in milliseconds. */
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

/** No index and no trigger knows it: a put is one statement on a secondary and one on the primary. */
const COLUMN = 'RECEIPT';
const NOTE_LENGTH = 200;
/** Some cells that were refused, to show that what is not there is not found. */
const REFUSED_CELLS = 1000;
/** More than a load lasts. */
const UNBOUNDED = 100_000;

export function putClient({ url, seed, retries, name }: PutClientOptions) {
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
    /** Writes one cell, and returns whether it was accepted. Never rejects for what the server refused. */
    async put(dueAt = performance.now()): Promise<boolean> {
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

const REFUSED = 503;

/** A fetch that keeps count of the tries, those that were answered 503, and how long each took or has taken so far. */
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
