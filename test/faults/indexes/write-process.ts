/** A process that goes on writing while an index is built: new versions of old rows, and new rows. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore, type DatastoreAccess } from '../../support/store-access.ts';
import { runAsProcess } from '../../support/processes/process-side.ts';
import { Random } from '../../support/random.ts';
import { TripSource } from './fill.ts';

export interface WriteInput {
  readonly access: DatastoreAccess;
  readonly seed: string;
  /** Some of those that are there. */
  readonly rows: readonly string[];
}

export interface WriteProgress {
  readonly acked: number;
}

const WRITERS = 4;
/** After each write of a writer: the build is to have most of the machine. */
const PAUSE_MS = 40;

await runAsProcess<WriteInput, WriteProgress>(async ({ access, seed, rows }, control) => {
  await using store = await openStore(access);
  const since = Date.now();
  let acked = 0;
  const write = async (number: number): Promise<void> => {
    const source = new TripSource(seed, number + 1);
    const random = new Random(seed, 'rows written meanwhile', number);
    while (!control.signal.aborted) {
      const row = random.chance(0.7) ? (rows[random.integer(0, rows.length - 1)] ?? '') : source.rowKey();
      const { outcome } = await store.datastore.put(source.base(row, 10 + (Date.now() - since) * 10 + number));
      if (outcome === 'stored') acked += 1;
      await sleep(PAUSE_MS);
    }
  };
  control.ready();
  const saying = setInterval(() => void control.say({ acked }), 100);
  await Promise.all(Array.from({ length: WRITERS }, (_, number) => write(number)));
  clearInterval(saying);
  await control.say({ acked });
});
