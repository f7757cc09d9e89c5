import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { NewCell } from '../../../shared/cell.ts';
import { schemalessClient } from '../../../shared/client/client.ts';
import type { ClientOptions } from '../../../shared/client/options.ts';
import { putAll } from '../../../shared/client/put-all.ts';
import { tail } from '../../../shared/client/tail.ts';
import { temporaryFolder } from '../../infra/support/temporary-folder.ts';
import { freePort } from '../../support/free-port.ts';
import { startProcess, type KillableProcess } from '../../support/processes/killable-process.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';
import type { StoreAccess } from '../../support/store-access.ts';
import { until } from '../../support/until.ts';
import type { ApiProcessInput } from './api-process.ts';

const RESTARTS = 10;
/** Between two ends of the process. */
const CELLS = 40;
const WRITERS = 4;

const folder = temporaryFolder();
let store: RealStore;
let access: StoreAccess;
let [dead, port] = [0, 0];
let api: KillableProcess<never>;

async function startApi(): Promise<void> {
  api = startProcess<ApiProcessInput, never>(new URL('api-process.ts', import.meta.url), folder.path, { access, port });
  await api.ready;
}

beforeAll(async () => {
  store = await openRealStore({ datastores: { trips: 8 } });
  const { groups, dynamo, access: way, dataApi } = inject('servers');
  const topologyTable = store.topologyTable.table;
  access = {
    groups,
    dynamo,
    topologyTable,
    stateTable: topologyTable,
    bufferCopies: 1,
    datastore: store.nameOf('trips'),
    ...(way === 'data-api' && { dataApi }),
  };
  [dead, port] = [await freePort(), await freePort()];
  await startApi();
});
afterAll(async () => {
  await api?.kill();
  await store?.close();
  folder[Symbol.dispose]();
});

const client = (options: Partial<ClientOptions> = {}) =>
  schemalessClient({
    url: [dead, port].map((one) => `http://127.0.0.1:${one}`),
    datastore: store.nameOf('trips'),
    ...options,
  });
const rows = Array.from({ length: 20 }, () => randomUUID());
const cellOf = (writer: string, number: number): NewCell => ({
  row_key: rows[number % rows.length] ?? '',
  column_name: writer,
  ref_key: number,
  body: { writer, number },
});

describe('an API that is killed again and again, beside an endpoint that is dead', () => {
  it('costs a caller with a deadline no error, no cell, and no cell twice', { timeout: 240_000 }, async () => {
    const trips = client({ deadlineMs: 120_000 });
    const stop = new AbortController();
    const written: NewCell[] = [];
    const outcomes = new Set<string>();

    async function write(writer: string): Promise<void> {
      for (let number = 0; !stop.signal.aborted; number += 1) {
        const cell = cellOf(writer, number);
        outcomes.add((await trips.put(cell)).outcome);
        written.push(cell);
      }
    }
    async function* many(): AsyncGenerator<NewCell> {
      for (let number = 0; !stop.signal.aborted; number += 1) {
        const cell = cellOf('MANY', number);
        yield cell;
      }
    }
    const load = [
      ...Array.from({ length: WRITERS }, (_, writer) => write(`WRITER ${writer}`)),
      putAll(trips, many(), { concurrency: 2, onResult: ({ cell, result }) => result && written.push(cell) }).then(
        ({ undone, conflict }) => expect({ undone, conflict }).toEqual({ undone: [], conflict: 0 }),
      ),
    ];
    for (let restart = 0; restart < RESTARTS; restart += 1) {
      const before = written.length;
      await until('cells are written', () => written.length >= before + CELLS, { patienceMs: 60_000 });
      await api.kill();
      await startApi();
    }
    stop.abort();
    await Promise.all(load);

    // A cell that was stored as the process died is there already when it is sent again.
    expect([...outcomes].filter((outcome) => outcome !== 'stored' && outcome !== 'stored_before')).toEqual([]);
    const found = new Map<string, number>();
    for await (const { cell } of tail(trips, { from: 'start', follow: false })) {
      const key = `${cell.row_key}/${cell.column_name}/${cell.ref_key}`;
      found.set(key, (found.get(key) ?? 0) + 1);
    }
    const wanted = written.map((cell) => `${cell.row_key}/${cell.column_name}/${cell.ref_key}`);
    expect(new Set(found.keys())).toEqual(new Set(wanted));
    expect(Math.max(...found.values())).toBe(1);
  });

  it('shows to a caller without retries', async () => {
    await api.kill();
    await expect(client({ attempts: 1 }).put(cellOf('CONTROL', 0))).rejects.toMatchObject({ code: 'unavailable' });
    await startApi();
    await expect(client({ attempts: 1 }).put(cellOf('CONTROL', 0))).resolves.toMatchObject({ outcome: 'stored' });
  });
});
