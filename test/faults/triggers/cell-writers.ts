/** A thread of writers of new cells, each with one write under way at a time, until they are told to stop. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';
import { openStore, type DatastoreAccess } from '../../support/store-access.ts';
import { runAsWorker } from '../../support/workers/worker-side.ts';

export interface CellWriters {
  readonly access: DatastoreAccess;
  readonly writers: number;
  readonly seed: string;
  readonly pauseMs: number;
}

export interface WritersProgress {
  readonly stored: number;
  readonly refused: number;
}

const ROWS = 200;
const SAY_MS = 50;

await runAsWorker<CellWriters, 'stop', WritersProgress, WritersProgress>(
  async ({ access, writers, seed, pauseMs }, control) => {
    await using store = await openStore(access);
    const counts = { stored: 0, refused: 0 };
    control.ready();
    const saying = setInterval(() => control.say({ ...counts }), SAY_MS);
    const write = async (writer: number): Promise<void> => {
      const random = new Random(seed, access.datastore, writer);
      const rows = Array.from({ length: ROWS }, () => randomRowKey(random));
      for (let number = 1; control.stopped === undefined; number += 1) {
        const address = { row_key: rows[number % ROWS] ?? '', column_name: 'BASE', ref_key: number };
        const { outcome } = await store.datastore.put({ ...address, body: { writer, number } });
        if (outcome === 'stored' || outcome === 'stored_before') counts.stored += 1;
        else counts.refused += 1;
        await sleep(pauseMs);
      }
    };
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
    clearInterval(saying);
    return counts;
  },
);
