import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StackStatus } from '../../../infra/local/control/status.ts';
import { sendCommand } from '../../../infra/local/control/control-client.ts';
import { isRunning } from '../../../infra/local/platform/process-table.ts';
import { faultsLine, inspect, type Aftermath } from '../aftermath.ts';
import { countsLine, grouped, type FaultRun, type RunWorld } from '../fault-run.ts';
import { comes } from '../../support/until.ts';
import { outcomesLine, type Written } from '../load/ledger.ts';
import { operatorsClient } from '../../support/operators-client.ts';
import { startProcess } from '../../support/processes/killable-process.ts';
import { countUnreadable } from '../stored-cells.ts';
import { StackProcess } from '../../support/processes/stack-process.ts';
import { DATASTORE } from '../../support/store-access.ts';
import { CONNECTIONS, growthOf, PROCESSES, type Growth } from './judge-samples.ts';
import { deleteTrips } from '../delete-trips.ts';
import { stackEngine, startProgram } from '../stack-program.ts';
import { lookUntil } from '../../support/look-until.ts';
import { judgeSoak } from './judge-soak.ts';
import type { MixedCounts, MixedLoadOptions } from './mixed-load.ts';
import { processTree } from '../../support/processes/process-tree.ts';
import { restFigure, restOf, settle } from './settle.ts';
import { breakAtRandom, untilAllRun } from './soak-faults.ts';
import type { SoakProgress } from './soak-load.ts';
import { verifyInTheEnd, verifyOnce } from './verify-index.ts';
import { lookAt, watchStack, type Sample } from './watch-stack.ts';

const SECONDS = 600;
const CONTROL_SECONDS = 60;
/** Of a short run the parts that are compared are thirds, of the control quarters. */
const PART_SECONDS = 60;
const SHARDS = 24;
const TAILERS = 2;
/** A heap that may grow to what functions have in the cloud takes more between two collections. */
const FUNCTION_MB = 192;
const INDEX = 'driver_partner_index';
/**
 * A scheduled function that was killed is started again with the next minute. A message whose receipt was lost, since SQS
 * went away with the answer or its consumer was killed, stays hidden for as long as a batch may take, and its shard's
 * messages behind it wait: `hiddenSeconds` of the trigger, and what they take then.
 */
const SETTLE_MS = 420_000 + 60_000;
const VERIFY_MS = 60_000;
/** Longer than an idle connection is kept. */
const IDLE_MS = 75_000;
const LOOK_MS = 3000;
const END_MS = 30_000;
/** A group's writer hangs for so long while it is looked what waits. */
const HANG_MS = 1500;
const STACK = new URL('soak-stack.ts', import.meta.url);
const LOAD = new URL('soak-load.ts', import.meta.url);

export const soakRun: FaultRun = {
  name: 'soak',
  promise:
    'After minutes of mixed load and faults nothing has leaked, nothing is left waiting, and everything acknowledged is there',
  fault: 'a whole local stack; servers killed, paused and promoted, SQS and DynamoDB away, functions killed, at random',
  control:
    'the stack leaks memory, connections and processes; a group hangs when it is looked what waits; cells are deleted',

  async run(world) {
    await using parts = new AsyncDisposableStack();
    const soak = await startSoak(world, parts);
    const real = await soakWhole(world, soak);
    world.say(`the control: ${soakRun.control}`);
    const control = await sabotage(world, soak, real.written);
    return {
      checks: judgeSoak(real, control),
      cells: real.aftermath.acked,
      engine: stackEngine(world),
      notes: [
        `faults: ${[...real.faults].map(([what, times]) => `${what} ${times}`).join(', ')}`,
        `calls: ${countsLine(real.counts)}`,
        `memory of ${real.growth.parts}`,
        outcomesLine(real.aftermath.outcomes),
        `${restFigure(real.rest)} left ${real.rest.seconds.toFixed(1)} s after the load; parked cells sent again: ${real.rest.retried}`,
        faultsLine(real.aftermath),
        ...real.wrongExamples,
      ],
    };
  },
};

/** A stack that runs, and how it is reached. */
interface Soak {
  readonly stack: StackProcess;
  readonly data: string;
  readonly pid: number;
}

async function startSoak(world: RunWorld, parts: AsyncDisposableStack): Promise<Soak> {
  const data = join(world.folder, 'stack');
  const options = { shards: SHARDS, functions: 'process', functionMemory: FUNCTION_MB, tailers: TAILERS };
  const stack = await startProgram(world, 'stack', STACK, options);
  const { pid } = (await sendCommand(data, 'status')) as StackStatus;
  parts.defer(() => endWhole(stack, pid));
  return { stack, data, pid };
}

/** kill -9 of everything; large processes take a moment to go. */
async function endWhole(stack: StackProcess, root: number): Promise<void> {
  const tree = processTree(root);
  await stack.killAll().catch(() => undefined);
  await comes(() => !tree.some(({ pid }) => isRunning(pid)), { pollMs: 100, patienceMs: END_MS });
}

interface Watched {
  readonly written: Written;
  readonly counts: MixedCounts;
  readonly wrongExamples: readonly string[];
  readonly samples: readonly Sample[];
}

/** Loads the stack and watches it, while something is done with it. */
async function loaded(
  { folder, signal }: RunWorld,
  { stack, pid }: Soak,
  seed: string,
  meanwhile: () => Promise<void>,
): Promise<Watched> {
  using load = startProcess<MixedLoadOptions, SoakProgress>(LOAD, folder, { url: stack.url, seed, shards: SHARDS });
  await load.ready;
  const watch = watchStack(stack, pid);
  try {
    await meanwhile();
    signal.throwIfAborted();
  } finally {
    watch.stop();
  }
  await load.stop();
  const { written, counts, wrongExamples } = load.progress ?? {};
  if (!written || !counts || !wrongExamples) throw new Error('the load handed nothing over');
  // A promoted reader may lack the last cells: the buffer brings them back, at other added ids.
  const acked = written.acked.map((cell) => ({ ...cell, added_id: 0 }));
  return {
    written: { ...written, acked },
    counts,
    wrongExamples: [...written.wrongExamples, ...wrongExamples],
    samples: watch.samples,
  };
}

async function soakWhole(world: RunWorld, soak: Soak) {
  const { stack, data } = soak;
  const { seed, seconds = SECONDS, signal, say } = world;
  let faults: ReadonlyMap<string, number> = new Map();
  const watched = await loaded(world, soak, seed, async () => {
    faults = await breakAtRandom({ data, seed, seconds, signal, say });
  });
  const datastore = operatorsClient({ url: stack.url, datastore: DATASTORE });
  say('waiting for what is under way');
  const rest = await settle(data, datastore, SETTLE_MS, signal);
  say(
    `${restFigure(rest)} left after ${rest.seconds.toFixed(1)} s; reading ${grouped(watched.written.acked.length)} cells back`,
  );
  const aftermath: Aftermath = await inspect({ datastore, groups: stack.groups, written: watched.written, signal });
  const index = await verifyInTheEnd(data, INDEX, VERIFY_MS, signal);
  const part = Math.min(PART_SECONDS, seconds / 3);
  const growth = await untilCalm(world, soak, (end) => growthOf(watched.samples, seconds, part, end));
  return { ...watched, faults, rest, growth, aftermath, index };
}

/** Connections may stay open for a while after they were last needed. */
async function untilCalm({ signal }: RunWorld, { stack, pid }: Soak, judge: (end: Sample) => Growth): Promise<Growth> {
  const look = async (): Promise<Growth> => judge(await lookAt(stack, pid, 0));
  const isCalm = (growth: Growth): boolean => CONNECTIONS.holds(growth) && PROCESSES.holds(growth);
  return await lookUntil(look, isCalm, { pollMs: LOOK_MS, patienceMs: IDLE_MS, signal });
}

/** The same stack, with everything wrong that the checks look for. */
async function sabotage(world: RunWorld, soak: Soak, before: Written) {
  const { stack, data, pid } = soak;
  const { seed, signal } = world;
  const datastore = operatorsClient({ url: stack.url, datastore: DATASTORE });
  const hanging = (await untilAllRun(data, signal)).nodes.find(({ role }) => role === 'writer')?.node ?? '';
  const { samples } = await loaded(world, soak, `${seed}/leaking`, async () => {
    process.kill(pid, 'SIGUSR2');
    await sleep(CONTROL_SECONDS * 1000, undefined, { signal });
    await sendCommand(data, 'pause', hanging);
    await sleep(HANG_MS, undefined, { signal });
  });
  const rest = await restOf(data, datastore);
  await sendCommand(data, 'resume', hanging);
  await untilAllRun(data, signal);
  const growth: Growth = growthOf(samples, CONTROL_SECONDS, CONTROL_SECONDS / 4, await lookAt(stack, pid, 0));
  const deleted = await deleteTrips(stack.groups, 'group-2');
  return {
    growth,
    rest,
    deleted,
    lost: await countUnreadable(datastore, before.acked),
    acked: before.acked.length,
    index: await verifyOnce(data, INDEX),
  };
}
