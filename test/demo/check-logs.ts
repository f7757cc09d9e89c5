import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Cell, Role } from '../../shared/cell.ts';
import type { DemoStore } from '../support/trips/demo-store.ts';
import { addressText, type Differences } from './differences.ts';
import { inChunks, inParallel } from '../support/parallel.ts';
import { persist } from '../support/persist.ts';
import type { Progress } from '../support/progress.ts';
import type { ShardPart } from './write.ts';
import { askedText, type WrittenTrips } from './written-trips.ts';

interface CheckLogsOptions {
  readonly read: Role;
  /** How long a log may stand still before what is missing counts as missing. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly differences: Differences;
}

const SHARDS_A_REQUEST = 16;
const REQUESTS_AT_A_TIME = 4;
const CELLS_A_SHARD = 200;
const PAUSE_MS = 100;

interface Reading {
  readonly shard: number;
  /** Read to here at least: its head once everything was written. */
  readonly head: number;
  next: number;
  left: number;
  createdAt: string;
}

/**
 * Reads the log of every shard that was written to: added ids without holes, times that never go back, and every cell
 * that was written in it once. Returns how many of them were found.
 */
export async function checkLogs(
  store: DemoStore,
  trips: WrittenTrips,
  shards: ReadonlyMap<number, ShardPart>,
  options: CheckLogsOptions,
): Promise<number> {
  const { differences, progress, signal } = options;
  const heads = new Map(
    (await persist(signal, () => store.heads())).map((head) => [head.shard, head.error === undefined ? head.head : 0]),
  );
  const found = new Set<string>();
  const readings = [...shards].map(([shard, part]): Reading => ({
    shard,
    head: heads.get(shard) ?? 0,
    next: part.after,
    left: part.cells,
    createdAt: '',
  }));

  const take = (reading: Reading, cell: Cell): void => {
    if (cell.added_id !== reading.next + 1) {
      differences.fail(
        `shard ${reading.shard}`,
        `after ${reading.next} in its log wanted ${reading.next + 1}, got ${cell.added_id} (${options.read})`,
      );
    }
    if (cell.created_at < reading.createdAt)
      differences.fail(cell, `created_at ${cell.created_at} after ${reading.createdAt}`);
    reading.next = cell.added_id;
    reading.createdAt = cell.created_at;
    const wanted = trips
      .cellsOf(cell.row_key)
      ?.find(({ column_name, ref_key }) => column_name === cell.column_name && ref_key === cell.ref_key);
    if (wanted === undefined) return;
    const address = addressText(cell);
    if (found.has(address)) return differences.fail(cell, `twice in the log of shard ${reading.shard}`);
    found.add(address);
    reading.left -= 1;
    if (cell.error !== undefined) return differences.fail(cell, cell.error.message);
    if (!isDeepStrictEqual(cell.body, wanted.body))
      return differences.fail(cell, `another body in the log of shard ${reading.shard}`);
    differences.pass();
    progress.advance();
  };

  await inParallel(inChunks(readings, SHARDS_A_REQUEST), REQUESTS_AT_A_TIME, signal, async (chunk) => {
    let end = Date.now() + options.patienceMs;
    for (;;) {
      const open = chunk.filter((reading) => reading.left > 0 || reading.next < reading.head);
      if (open.length === 0) return;
      if (await readOn(store, open, options, take)) end = Date.now() + options.patienceMs;
      else if (Date.now() > end) return;
      else await sleep(PAUSE_MS, undefined, { signal });
    }
  });
  for (const { shard, next, head } of readings) {
    if (next < head)
      differences.fail(`shard ${shard}`, `its log ends at ${next}, wanted its head ${head} (${options.read})`);
  }
  for (const cell of trips.acknowledged())
    if (!found.has(addressText(cell)))
      differences.fail(cell, `not in the log ${askedText(options.read, trips.outcomeOf(cell))}`);
  return found.size;
}

/** One request for all these shards. True when any of them went on. */
async function readOn(
  store: DemoStore,
  readings: readonly Reading[],
  { read, signal }: CheckLogsOptions,
  take: (reading: Reading, cell: Cell) => void,
): Promise<boolean> {
  const locations = readings.map(({ shard, next }) => ({ shard, after: next }));
  const logs = await persist(signal, () => store.log(locations, { limit: CELLS_A_SHARD, read }));
  let wentOn = false;
  for (const [position, reading] of readings.entries()) {
    const log = logs[position];
    if (log === undefined || log.error !== undefined || log.served_by !== read) continue;
    for (const cell of log.cells) take(reading, cell);
    if (log.cells.length > 0) wentOn = true;
  }
  return wentOn;
}
