import { apiClient } from '../../shared/client/api-client.ts';
import { schemalessClient } from '../../shared/client/client.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { DATASTORE } from '../support/store-access.ts';
import type { Bench, Findings, Measured } from './bench.ts';
import { openLibrary } from './http/open-library.ts';
import { isKept, tripMaker, type Store } from './http/operations.ts';
import { startStack } from './http/start-stack.ts';
import { rateLine, rowsOf } from './load/load-findings.ts';
import { risingLoad, type Send } from './load/rising-load.ts';

const TRIGGER = 'bill_rider';
const ROWS = 400;
const BATCH = 100;

/**
 * How long puts and reads take while more and more of them come, whatever is answered. The load, the gateway, the
 * functions and the servers share the machine.
 */
export const loadBench: Bench = {
  name: 'load',
  what: 'how long a put and a read take at rising rates, offered whatever is answered, through HTTP and through the library of a whole local stack',
  limitMinutes: 9,

  async measure(world): Promise<Findings> {
    const { seed, signal, say } = world;
    await using parts = new AsyncDisposableStack();
    const { stack, engine } = parts.use(await startStack(world));
    const store = schemalessClient({ url: stack.url, datastore: DATASTORE });
    // To bill what is written here would take longer than to write it, beside whatever is measured then.
    await apiClient({ url: stack.url, datastore: DATASTORE }).pauseTrigger({
      trigger: TRIGGER,
      reason: 'a measurement',
    });
    const { datastore: library } = parts.use(await openLibrary(stack));
    // Each request is one of its own, sent once: callers who know nothing of each other share no request.
    const http = schemalessClient({ url: stack.url, datastore: DATASTORE, joinReads: false, attempts: 1 });

    const newTrip = tripMaker(seed);
    const rows = Array.from({ length: ROWS }, () => newTrip());
    for (let start = 0; start < ROWS; start += BATCH) await store.batchPut(rows.slice(start, start + BATCH));
    const put = async (to: Store): Promise<boolean> => isKept(await to.put(newTrip()));
    const getLatest = async (from: Store): Promise<boolean> => {
      const { row_key, column_name } = rows[Math.floor(Math.random() * ROWS)] ?? newTrip();
      return (await from.getLatest({ row_key, column_name })).cell !== null;
    };

    const measured: Measured[] = [];
    for (const [way, to] of [
      ['through HTTP', http],
      ['through the library', library],
    ] as const) {
      for (const [operation, send] of [
        ['put', put],
        ['get latest', getLatest],
      ] as const) {
        const what = `${operation} ${way}`;
        const load = await risingLoad(unlessRefused(to, send), {
          signal,
          seen: (rate) => say(`${what}: ${rateLine(rate)}`),
        });
        measured.push(...rowsOf(what, load, engine));
      }
    }
    return { measured };
  },
};

/** What the store refuses for now counts as not answered; what it will never answer is a mistake of this bench. */
function unlessRefused(store: Store, send: (store: Store) => Promise<boolean>): Send {
  return () =>
    send(store).catch((error: unknown) => {
      if (error instanceof SchemalessError && error.retry === 'later') return false;
      throw error;
    });
}
