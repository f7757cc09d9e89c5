import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dataFolder } from '../../../infra/local/folder/data-folder.ts';
import type { NewCell } from '../../../shared/cell.ts';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import { operatorsClient, type OperatorsClient } from '../../support/operators-client.ts';
import { persist } from '../../support/persist.ts';
import { DATASTORE, groupClient } from '../../support/store-access.ts';
import type { BenchWorld } from '../bench.ts';
import { startStack, type BenchStack } from '../http/start-stack.ts';
import { calmTrip } from '../lags/calm-trips.ts';
import { startsInLog, type HandlerStarts } from '../lags/handler-starts.ts';
import { readServerLoad } from '../server-load.ts';

/** A whole stack on which nothing is written, and what then a cell comes to. */
export interface RestingStack {
  /** By the servers' own counters, a second, on all of them. */
  readonly statements: number;
  readonly engine: string;
  /** From a put's answer to the start of its function, each after a rest, the first one as the function is loaded. */
  readonly firstMs: readonly number[];
}

const CALM_SECONDS = 15;
/** Offsets are committed, and pauses at their longest by then. */
const SETTLE_SECONDS = 8;
const SAMPLES = 5;
const REST_SECONDS = 8;
const PATIENCE_MS = 60_000;
const LOOK_MS = 2;
const BATCH = 100;

/** @param cells one in each shard, of no column that a trigger wants */
export async function watchRestingStack(
  world: BenchWorld,
  shards: number,
  cells: readonly NewCell[],
): Promise<RestingStack> {
  const { signal, say } = world;
  const datastores = join(import.meta.dirname, 'datastores');
  await using started = await startStack({ ...world, folder: join(world.folder, 'whole') }, [
    '--datastores',
    datastores,
    '--shards',
    String(shards),
  ]);
  const client = operatorsClient({ url: started.stack.url, datastore: DATASTORE });
  for (let start = 0; start < cells.length; start += BATCH) {
    const other = (await client.batchPut(cells.slice(start, start + BATCH))).find(
      ({ outcome }) => outcome !== 'stored' && outcome !== 'stored_before',
    );
    if (other) throw new Error(`a cell was answered ${other.outcome}`);
  }
  await untilSent(client, signal);
  say(`a whole stack with ${shards} shards rests`);
  const statements = await statementsASecond(started, signal);
  const starts = await startsInLog(dataFolder(started.data).functionLog);
  const firstMs: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    await sleep(REST_SECONDS * 1000, undefined, { signal });
    firstMs.push(await untilStarted(client, starts, signal));
  }
  return { statements, engine: started.engine, firstMs };
}

async function untilSent(client: OperatorsClient, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const { triggers } = await persist(signal, () => client.listTriggers());
    if (triggers.every(({ sent }) => sent.cells === 0 && sent.unknown_shards === 0)) return;
    if (performance.now() > deadline)
      throw new Error(`the triggers did not come to the end of every log within ${PATIENCE_MS / 1000} s`);
    await sleep(1000, undefined, { signal });
  }
}

async function statementsASecond({ stack }: BenchStack, signal: AbortSignal): Promise<number> {
  const clients = stack.groups.map(({ name }) => groupClient(stack.groups, name));
  try {
    await sleep(SETTLE_SECONDS * 1000, undefined, { signal });
    const now = async (): Promise<readonly [number, number]> => [
      performance.now(),
      (await readServerLoad(stack.serverPids, clients)).statements,
    ];
    const [start, before] = await now();
    await sleep(CALM_SECONDS * 1000, undefined, { signal });
    const [end, after] = await now();
    return ((after - before) * 1000) / (end - start);
  } finally {
    await Promise.all(clients.map((one) => one.close()));
  }
}

/** Writes one cell and waits until its function has been started. */
async function untilStarted(client: SchemalessClient, starts: HandlerStarts, signal: AbortSignal): Promise<number> {
  const trip = calmTrip();
  await persist(signal, () => client.put(trip));
  const answeredAt = Date.now();
  for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline;) {
    await starts.read();
    const startedAt = starts.startOf(trip);
    if (startedAt !== undefined) return Math.max(0, startedAt - answeredAt);
    await sleep(LOOK_MS, undefined, { signal });
  }
  return Number.POSITIVE_INFINITY;
}
