import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProcess } from '../../support/processes/killable-process.ts';
import { faultsLine } from '../aftermath.ts';
import { grouped, type FaultRun, type RunWorld } from '../fault-run.ts';
import { outcomesLine } from '../load/ledger.ts';
import { startProgram, variedFunctions } from '../stack-program.ts';
import { countUnreadable } from '../stored-cells.ts';
import { WholeStack } from '../whole-stack.ts';
import { judgeOverload, loadLine } from './judge-overload.ts';
import type { LoadPlan, LoadProgress, LoadResult } from './put-client.ts';
import type { OverloadStackOptions } from './overload-stack.ts';

const OVERLOAD_SECONDS = 30;
/** The recovery exceeds its bar by the time that it takes to see that it is calm. */
const REAL = {
  overloadSeconds: OVERLOAD_SECONDS,
  recoverySeconds: 14,
  patienceSeconds: 15,
  retries: 'as they are',
} as const;
const OPEN_DOORED = { ...REAL, overloadSeconds: 15, patienceSeconds: 0 } as const;
/** Clients that retry for ever. */
const UNBOUNDED = { overloadSeconds: 15, recoverySeconds: 0, patienceSeconds: 10, retries: 'unbounded' } as const;
/** At about two hundred writes a second, three times as many leave the cores of a small machine some room. */
const DELAY_MS = 60;
const SHARDS = 24;
const POLL_MS = 100;
const STACK = new URL('overload-stack.ts', import.meta.url);
const OPEN_DOOR = new URL('open-door-write-cells.ts', import.meta.url);

export const overloadRun: FaultRun = {
  name: 'overload',
  promise:
    'Under more load than it can take the store goes on at its peak, refuses the rest early, and is itself again at once',
  fault: `three times the peak for ${OVERLOAD_SECONDS} s, started at fixed times, by clients that repeat what is refused`,
  control:
    'an open door: no admission control, an append for each write, and nothing that bounds a wait; clients that repeat without a budget; refused cells taken for acknowledged',
  alone: true,

  async run(world) {
    const real = await onStack(world, 'real', undefined, (stack) => overloadWhole(world, stack));
    world.say('the control: an open door');
    const functions = variedFunctions(join(world.folder, 'functions'), { 'write-cells': OPEN_DOOR });
    // The databases are the same, and so is their capacity.
    const { normal } = real.load;
    const seed = `${world.seed}/open door`;
    const openDoor = await onStack(world, 'control', functions, ({ process: { url } }) =>
      runLoad(world, { url, normal, ...OPEN_DOORED, seed }),
    );
    return {
      checks: judgeOverload({ ...real, openDoor }),
      cells: real.aftermath.acked,
      notes: [
        loadLine(real.load),
        outcomesLine(real.aftermath.outcomes),
        faultsLine(real.aftermath),
        ...real.aftermath.wrongExamples,
        `without a retry budget: ${loadLine(real.unbounded)}`,
        `with an open door: ${loadLine(openDoor)}`,
      ],
    };
  },
};

async function overloadWhole(world: RunWorld, stack: WholeStack) {
  const { seed, say } = world;
  const { url } = stack.process;
  const load = await runLoad(world, { url, seed, ...REAL });
  say(`${grouped(load.written.acked.length)} cells acknowledged; waiting for the buffers, then reading all back`);
  const aftermath = await stack.inspect(load.written);
  const refusedMissing = await countUnreadable(stack.client(), load.refusedCells);
  say('the control: clients without a retry budget');
  const unbounded = await runLoad(world, { url, ...UNBOUNDED, seed: `${seed}/unbounded`, normal: load.normal });
  return { load, aftermath, refusedMissing, unbounded };
}

async function onStack<T>(
  world: RunWorld,
  name: string,
  functionsFolder: string | undefined,
  work: (stack: WholeStack) => Promise<T>,
): Promise<T> {
  const isOpenDoor = functionsFolder !== undefined;
  const options: OverloadStackOptions = { readers: 0, shards: SHARDS, delayMs: DELAY_MS, functionsFolder, isOpenDoor };
  await using stack = await WholeStack.start(world, name, () => startProgram(world, name, STACK, options));
  const done = await work(stack);
  await stack.process.stop();
  return done;
}

async function runLoad({ folder, signal, say }: RunWorld, plan: LoadPlan): Promise<LoadResult> {
  using load = startProcess<LoadPlan, LoadProgress>(new URL('load-process.ts', import.meta.url), folder, plan);
  await load.ready;
  let isGone = false;
  void load.gone.then(() => (isGone = true));
  let output: string | undefined;
  for (;;) {
    const { line, result } = load.progress ?? {};
    if (result !== undefined) return result;
    if (line !== undefined && line !== output) say(line);
    output = line;
    if (isGone) throw new Error('the load ended without a result');
    await sleep(POLL_MS, undefined, { signal });
  }
}
