/** A process of writers that race for the same rows, like instances of a function, and that is killed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore, type DatastoreAccess } from '../../support/store-access.ts';
import { runAsProcess } from '../../support/processes/process-side.ts';
import { raceRows, RacingCells } from './racing-cells.ts';
import { vary, type Variation } from './variation.ts';

export interface RaceInput {
  readonly access: DatastoreAccess;
  readonly writers: readonly number[];
  readonly seed: string;
  readonly since: number;
  readonly variation: Variation;
  /** The pause after each write of a writer. */
  readonly pauseMs?: number;
  /** The share of rows that were never written before. @default 0 */
  readonly freshShare?: number;
}

export interface RaceProgress {
  readonly acked: number;
  /** Writes of index entries, and how many of them were late or varied. */
  readonly entries: number;
  readonly late: number;
  readonly changed: number;
}

const SAY_MS = 100;
/** Rows that a process leaves with late entries. The first writers of processes are 0, 2, 4, … */
const ROWS_EACH = 30;
const PARTS = 8;

await runAsProcess<RaceInput, RaceProgress>(async (input, control) => {
  const { access, writers, seed, since, variation, pauseMs = 0, freshShare = 0 } = input;
  const varied = vary(variation, `${seed} ${writers.join()}`);
  await using store = await openStore(access, { wrap: varied.wrap });
  let acked = 0;
  const write = async (number: number): Promise<void> => {
    const cells = new RacingCells(seed, number, since);
    while (!control.signal.aborted) {
      const { outcome } = await store.datastore.put(cells.next(freshShare));
      if (outcome === 'stored' || outcome === 'buffered') acked += 1;
      if (pauseMs > 0) await sleep(pauseMs);
    }
  };
  /** Rows get a driver whose entry comes late, and then another one: the repair has passed them by then. */
  const partWithLateEntries = async (): Promise<void> => {
    if (variation.late === 0) return;
    const [number = 0] = writers;
    const cells = new RacingCells(seed, number, since);
    const first = (number % PARTS) * ROWS_EACH;
    const rows = raceRows(seed).slice(first, first + ROWS_EACH);
    for (const late of [1, 0]) {
      varied.setLate(late);
      const results = await store.datastore.batchPut(rows.map((row) => cells.move(row)));
      acked += results.filter(({ outcome }) => outcome === 'stored' || outcome === 'buffered').length;
    }
  };
  const progress = (): RaceProgress => ({ acked, ...varied.counts });
  control.ready();
  const saying = setInterval(() => void control.say(progress()), SAY_MS);
  await Promise.all(writers.map(write));
  await partWithLateEntries();
  await varied.idle();
  clearInterval(saying);
  await control.say(progress());
});
