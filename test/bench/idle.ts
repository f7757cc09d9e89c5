import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { committedOffsets } from '../../shared/follow/follower-lag.ts';
import type { NewCell } from '../../shared/cell.ts';
import { shardOf } from '../../shared/address.ts';
import { triggerFollower } from '../../shared/triggers/state/trigger-items.ts';
import { sqsQueues } from '../../shared/triggers/state/queues.ts';
import { triggerManagement } from '../../shared/triggers/manage/trigger-management.ts';
import { Random } from '../support/random.ts';
import { randomRowKey } from '../support/row-key.ts';
import { startProcess, type KillableProcess } from '../support/processes/killable-process.ts';
import { groupClient } from '../support/store-access.ts';
import type { TailerInput, TailerProgress } from '../support/triggers/tailer-process.ts';
import { startTriggerStage, type TriggerStage } from '../support/triggers/trigger-stage.ts';
import { openTriggered, type TriggeredStore } from '../support/triggers/triggered-access.ts';
import type { Bench, BenchWorld, Findings, Measured } from './bench.ts';
import { watchRestingStack, type RestingStack } from './idle/resting-stack.ts';
import { rowsOn } from './rows.ts';
import { readServerLoad, type ServerLoad } from './server-load.ts';
import { median } from './side-by-side.ts';

const SHARDS = 4096;
const GROUPS = 3;
const TRIGGERS = ['bill_rider', 'feed_warehouse'];
/** Twice what is done in the longest rounds: each trigger tells every half minute how far it is behind. */
const SECONDS = 60;
/** Offsets are committed, checkpoints written, and pauses at their longest by then. */
const SETTLE_SECONDS = 5;
const PATIENCE_MS = 120_000;
const BATCH = 100;
const BAR = { statements: 200, megabytes: 4, tailerCpu: 60, serverCpu: 150, sharing: 1.2 };

export const idleBench: Bench = {
  name: 'idle',
  what: `tailing ${SHARDS} shards on ${GROUPS} groups for ${TRIGGERS.length} triggers while nothing is written, by one tailer and on a whole local stack`,
  apart: true,
  limitMinutes: 9,

  async measure(world): Promise<Findings> {
    const ofTailer = await measureTailer(world);
    const cells = cellOfEachShard(world).map((cell) => ({ ...cell, column_name: 'NOTE' }));
    const whole = await watchRestingStack(world, SHARDS, cells);
    return { measured: [...ofTailer, ...measuredWhole(whole)] };
  },
};

async function measureTailer(world: BenchWorld): Promise<readonly Measured[]> {
  await using stage = await startTriggerStage(world, { groups: GROUPS, readers: 1, shards: SHARDS });
  const access = await stage.define('trips', { triggers: TRIGGERS });
  await using store = await openTriggered(access);
  await fillEach(store, cellOfEachShard(world));
  world.say('a cell in each shard; nothing is written from now on');
  const input: TailerInput = { access, slots: [0], sends: join(world.folder, 'sends'), seed: world.seed };
  using tailer = startProcess<TailerInput, TailerProgress>(
    new URL('../support/triggers/tailer-process.ts', import.meta.url),
    world.folder,
    input,
  );
  await tailer.ready;
  await untilDone(store, world);

  const both = await during(stage, tailer, world);
  const operations = await triggerManagement({
    context: store.context,
    stateTable: store.stateTable,
    queues: sqsQueues(store.sqs),
  }).triggers(access.datastore);
  await operations.pauseTrigger({ trigger: TRIGGERS[1] ?? '' });
  const one = await during(stage, tailer, world);
  await tailer.stop();
  return measured(both, one, stage.engine);
}

/** By the second. */
interface Rates {
  readonly statements: number;
  readonly megabytes: number;
  /** Per cent of one core. */
  readonly tailerCpu: number;
  readonly serverCpu: number;
}

function measured(both: Rates, one: Rates, engine: string): readonly Measured[] {
  const row = rowsOn(engine);
  const atMost = (what: string, value: number, bar: number, text = value.toFixed(0)): Measured =>
    row(what, text, `at most ${bar}`, value <= bar);
  const sharing = both.statements / Math.max(1, one.statements);
  const load = `${SHARDS} idle shards, ${TRIGGERS.length} triggers`;
  const ofOne = `${sharing.toFixed(2)} (${one.statements.toFixed(0)} a second)`;
  const tailer = `${both.tailerCpu.toFixed(0)} (one trigger: ${one.tailerCpu.toFixed(0)})`;
  return [
    atMost(`statements a second, ${load}`, both.statements, BAR.statements),
    atMost('… times those of one trigger', sharing, BAR.sharing, ofOne),
    atMost('MB a second, both ways', both.megabytes, BAR.megabytes, both.megabytes.toFixed(2)),
    atMost('per cent of a core: the tailer', both.tailerCpu, BAR.tailerCpu, tailer),
    atMost(`per cent of a core: all ${GROUPS * 2} servers`, both.serverCpu, BAR.serverCpu),
  ];
}

function measuredWhole({ statements, engine, firstMs }: RestingStack): readonly Measured[] {
  const row = rowsOn(engine);
  const [loading = Number.NaN, ...others] = firstMs;
  return [
    row(
      `whole stack: statements a second on all servers, ${SHARDS} idle shards, ${TRIGGERS.length} triggers`,
      statements.toFixed(0),
    ),
    row(
      "whole stack: the first cell after a rest, from its put's answer to the start of its function",
      `${median(others).toFixed(0)} ms (${Math.min(...others)} to ${Math.max(...others)} ms of ${others.length}; the first of all ${loading} ms)`,
      'printed',
      firstMs.every(Number.isFinite),
    ),
  ];
}

/** So that there is a cell at each offset to be looked at. */
function cellOfEachShard({ seed }: BenchWorld): readonly NewCell[] {
  const random = new Random(seed, 'rows of all shards', 0);
  const rows = new Map<number, string>();
  while (rows.size < SHARDS) {
    const row = randomRowKey(random);
    rows.set(shardOf(row, SHARDS), row);
  }
  return [...rows.values()].map((row_key) => ({
    row_key,
    column_name: 'BASE',
    ref_key: 1,
    body: { written_by: 'bench' },
  }));
}

async function fillEach({ datastore }: TriggeredStore, cells: readonly NewCell[]): Promise<void> {
  for (let start = 0; start < cells.length; start += BATCH) {
    const refused = (await datastore.batchPut(cells.slice(start, start + BATCH))).find(
      ({ outcome }) => outcome !== 'stored',
    );
    if (refused) throw new Error(`a cell was answered ${refused.outcome}`);
  }
}

async function untilDone({ stateTable, name }: TriggeredStore, { signal }: BenchWorld): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (const trigger of TRIGGERS) {
    while (
      (await committedOffsets(stateTable, { name: triggerFollower(trigger), datastore: name }, SHARDS)).some(
        (offset) => offset !== 1,
      )
    ) {
      if (performance.now() > deadline)
        throw new Error(`the tailer did not come to the end of every log within ${PATIENCE_MS / 1000} s`);
      await sleep(1000, undefined, { signal });
    }
  }
}

async function during(
  { servers, groups }: TriggerStage,
  tailer: KillableProcess<TailerProgress>,
  { signal, say }: BenchWorld,
): Promise<Rates> {
  await sleep(SETTLE_SECONDS * 1000, undefined, { signal });
  const clients = groups.map(({ name }) => groupClient(groups, name));
  try {
    const now = async (): Promise<ServerLoad & { readonly tailerMs: number; readonly at: number }> => ({
      ...(await readServerLoad(
        servers.status().map(({ pid }) => pid),
        clients,
      )),
      tailerMs: tailer.progress?.cpuMs ?? 0,
      at: performance.now(),
    });
    const before = await now();
    await sleep(SECONDS * 1000, undefined, { signal });
    const after = await now();
    const seconds = (after.at - before.at) / 1000;
    const rates = {
      statements: (after.statements - before.statements) / seconds,
      megabytes: (after.bytes - before.bytes) / seconds / 1e6,
      tailerCpu: (after.tailerMs - before.tailerMs) / seconds / 10,
      serverCpu: (after.cpuMs - before.cpuMs) / seconds / 10,
    };
    say(
      Object.entries(rates)
        .map(([what, rate]) => `${what} ${rate.toFixed(1)}`)
        .join(', '),
    );
    return rates;
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}
