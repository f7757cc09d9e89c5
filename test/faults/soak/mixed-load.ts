import { setTimeout as sleep } from 'node:timers/promises';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import type { NewCell, PutResult } from '../../../shared/cell.ts';
import { schemalessClient } from '../../../shared/client/client.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { storeOf } from '../../support/store-of.ts';
import { inChunks } from '../../support/parallel.ts';
import { Random } from '../../support/random.ts';
import { tripStream } from '../../support/trips/trip.ts';
import { resultsOf } from '../load/ask.ts';
import { Ledger } from '../load/ledger.ts';
import { markOf } from '../stored-cells.ts';
import { randomRowKey } from '../../support/row-key.ts';
import { DATASTORE } from '../../support/store-access.ts';

export interface MixedLoadOptions {
  readonly url: string;
  readonly seed: string;
  readonly shards: number;
}

/** The work of a load, and the faults that it saw. */
export interface MixedCounts {
  readonly puts: number;
  readonly batches: number;
  readonly gets: number;
  readonly queries: number;
  readonly logReads: number;
  /** Reads and writes answered "later", or not at all. */
  readonly unavailable: number;
  /**
   * Acknowledged cells that a writer lacked for now: a promoted reader may lack them until the buffer restores them.
   */
  readonly missingForNow: number;
  /** Impossible answers, and unexpected errors. */
  readonly wrong: number;
}

/** Trips and other cells written, read, queried and followed by some callers at once, at an easy pace. */
interface MixedLoad {
  readonly counts: MixedCounts;
  readonly wrongExamples: readonly string[];
  readonly ledger: Ledger;
  work(signal: AbortSignal): Promise<void>;
}

const CALLERS = 4;
const PAUSE_MS = 60;
const TRIP_BATCH = 5;
const TRIP_PAUSE_MS = 800;
/** At first without a pause, so that as many instances of the trigger's function start as there will ever be. */
const BURST_BATCHES = 40;
const BATCH = 10;
/** Stored cells remembered for reads. */
const REMEMBERED = 1000;
const INDEX = 'driver_partner_index';
const COLUMNS = ['NOTES', 'RECEIPT'] as const;
const EXAMPLES = 5;

export function mixedLoad({ url, seed, shards }: MixedLoadOptions): MixedLoad {
  const store = storeOf(schemalessClient({ url, datastore: DATASTORE }));
  const ledger = new Ledger();
  const counts = { puts: 0, batches: 0, gets: 0, queries: 0, logReads: 0, unavailable: 0, missingForNow: 0, wrong: 0 };
  const [stored, drivers, wrongExamples]: [NewCell[], string[], string[]] = [[], [], []];
  const positions = Array.from({ length: shards }, () => 0);

  function isWrong(text: string): void {
    counts.wrong += 1;
    if (wrongExamples.length < EXAMPLES) wrongExamples.push(text);
  }

  function note(cells: readonly NewCell[], results: readonly PutResult[]): void {
    for (const [position, cell] of cells.entries()) {
      const result = results[position];
      if (!result) return isWrong(`${cells.length} cells were answered ${results.length} times`);
      ledger.note(cell, result);
      if (result.outcome === 'unavailable') counts.unavailable += 1;
      if (result.outcome === 'stored') stored[counts.puts % REMEMBERED] = cell;
      counts.puts += 1;
    }
  }

  /** Accepts an answer of "later" as part of the day; anything else is a fault. */
  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof SchemalessError && error.retry === 'later') counts.unavailable += 1;
      else isWrong(String(error));
    }
  }

  async function get(random: Random): Promise<void> {
    const cell = stored[random.integer(0, stored.length - 1)];
    if (!cell) return;
    const { cell: found, stale } = await store.get(cell);
    counts.gets += 1;
    if (!found && !stale) counts.missingForNow += 1;
    if (found && markOf(found) !== markOf(cell)) isWrong(`another body at ${cell.row_key}`);
  }

  async function query(random: Random): Promise<void> {
    const driver = drivers[random.integer(0, drivers.length - 1)];
    if (driver === undefined) return;
    await store.query({ index: INDEX, where: { driver_partner_uuid: driver } });
    counts.queries += 1;
  }

  async function readLog(random: Random): Promise<void> {
    const shard = random.integer(0, shards - 1);
    const after = positions[shard] ?? 0;
    const [log] = await store.log([{ shard, after }]);
    counts.logReads += 1;
    if (!log || log.error) return;
    if (log.cells.some(({ added_id }, position) => added_id !== after + 1 + position))
      isWrong(`a hole in the log of shard ${shard} after ${after}`);
    positions[shard] = log.next;
  }

  async function caller(number: number, signal: AbortSignal): Promise<void> {
    const random = new Random(seed, 'soak caller', number);
    let refKey = 0;
    const nextCell = (row_key: string): NewCell => {
      refKey += 1;
      const column_name = random.pick(COLUMNS);
      const body = { caller: number, refKey, note: 'n'.repeat(random.integer(0, 300)) };
      return { row_key, column_name, ref_key: refKey, body };
    };
    const write = async (): Promise<void> => {
      const row = randomRowKey(random);
      if (random.chance(0.2)) return transact(row);
      const cells = Array.from({ length: random.chance(0.2) ? BATCH : 1 }, () => nextCell(row));
      await put(store, cells, note);
      if (cells.length > 1) counts.batches += 1;
    };
    /** Writes a cell of each column together, and reads the row meanwhile: it has both or none. */
    const transact = async (row_key: string): Promise<void> => {
      const cells = COLUMNS.map((column_name) => ({ ...nextCell(row_key), column_name }));
      const writing = store.transact({ row_key, cells }).then((result) => note(cells, resultsOf(cells, result)));
      const [read] = await Promise.allSettled([store.row(row_key), writing]);
      await writing;
      counts.batches += 1;
      for (const { cells: shown } of [...(read.status === 'fulfilled' ? [read.value] : []), await store.row(row_key)])
        if (shown.length === 1) isWrong(`a part of the transaction of ${row_key}`);
    };
    while (!signal.aborted) {
      const chance = random.next();
      await attempt(() =>
        chance < 0.5 ? write() : chance < 0.75 ? get(random) : chance < 0.9 ? query(random) : readLog(random),
      );
      await sleep(PAUSE_MS);
    }
  }

  async function writeTrips(signal: AbortSignal): Promise<void> {
    let batches = 0;
    for (const batch of inChunks(tripStream({ seed: `soak/${seed}`, trips: Number.MAX_SAFE_INTEGER }), TRIP_BATCH)) {
      if (signal.aborted) return;
      await attempt(() => put(store, batch, note));
      for (const { column_name, body } of batch)
        if (column_name === 'BASE') drivers[counts.puts % REMEMBERED] = String(Object(body).driver_partner_uuid);
      batches += 1;
      if (batches > BURST_BATCHES) await sleep(TRIP_PAUSE_MS);
    }
  }

  return {
    counts,
    wrongExamples,
    ledger,
    async work(signal) {
      await Promise.all([
        writeTrips(signal),
        ...Array.from({ length: CALLERS }, (_, number) => caller(number, signal)),
      ]);
    },
  };
}

async function put(
  store: Pick<Datastore, 'put' | 'batchPut'>,
  cells: readonly NewCell[],
  note: (cells: readonly NewCell[], results: readonly PutResult[]) => void,
): Promise<void> {
  const [first] = cells;
  if (cells.length === 1 && first) note(cells, [await store.put(first)]);
  else note(cells, await store.batchPut(cells));
}
