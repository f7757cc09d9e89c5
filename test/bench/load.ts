import { apiClient } from '../../shared/client/api-client.ts';
import { schemalessClient } from '../../shared/client/client.ts';
import { DATASTORE } from '../support/store-access.ts';
import type { Bench, Findings, Measured } from './bench.ts';
import { storeOf } from '../support/store-of.ts';
import { openLibrary } from './http/open-library.ts';
import { isKept, tripMaker, type Store } from './http/operations.ts';
import { startStack } from './http/start-stack.ts';
import { rowsOfLoad } from './load/load-findings.ts';

const TRIGGER = 'bill_rider';
const ROWS = 400;
const BATCH = 100;

/**
 * Measures how long puts and reads take at rising rates, whatever is answered. The load, the gateway, the functions and
 * the servers share the machine.
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
    // Billing these trips would take longer than writing them, in parallel with the next measurement.
    await apiClient({ url: stack.url, datastore: DATASTORE }).pauseTrigger({
      trigger: TRIGGER,
      reason: 'a measurement',
    });
    const { datastore: library } = parts.use(await openLibrary(stack));
    // One cell a request, sent once: independent callers share no request.
    const http = storeOf(schemalessClient({ url: stack.url, datastore: DATASTORE, joinReads: false, attempts: 1 }));

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
        measured.push(...(await rowsOfLoad(`${operation} ${way}`, () => send(to), { engine, signal, say })));
      }
    }
    return { measured };
  },
};
