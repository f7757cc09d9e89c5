import { join } from 'node:path';
import { findEngine } from '../../../infra/setup/engine.mjs';
import { schemalessClient } from '../../../shared/client/client.ts';
import { faultsLine, inspect } from '../aftermath.ts';
import { engineName } from '../../support/cluster.ts';
import type { FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { outcomesLine } from '../load/ledger.ts';
import { countUnreadable } from '../read-back.ts';
import { StackProcess } from '../../support/processes/stack-process.ts';
import { DATASTORE } from '../../support/store-access.ts';
import { variedFunctions } from '../varied-functions.ts';
import { judgeOverload, loadLine } from './judge-overload.ts';
import type { OverloadStackOptions } from './overload-stack.ts';
import { runLoad } from './run-load.ts';

const OVERLOAD_SECONDS = 30;
/** Over the bar by as much as it takes to see that it is calm. */
const RECOVERY_SECONDS = 14;
const CONTROL_OVERLOAD_SECONDS = 15;
const PATIENCE_SECONDS = 15;
/** For clients that never give up: they go on trying. */
const CONTROL_PATIENCE_SECONDS = 10;
/** At about two hundred writes a second, three times as many leave the cores of a small machine some room. */
const DELAY_MS = 60;
const SHARDS = 24;
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

  async run(world: RunWorld): Promise<RunOutcome> {
    const real = await overloadWhole(world);
    world.say('the control: an open door');
    await using parts = new AsyncDisposableStack();
    const stack = await startStack(
      world,
      'control',
      parts,
      variedFunctions(join(world.folder, 'functions'), { 'write-cells': OPEN_DOOR }),
    );
    const openDoor = await runLoad(world, {
      url: stack.url,
      seed: `${world.seed}/open door`,
      // The databases are the same, and so is what they can take.
      normal: real.load.normal,
      overloadSeconds: CONTROL_OVERLOAD_SECONDS,
      recoverySeconds: RECOVERY_SECONDS,
      patienceSeconds: 0,
      retries: 'as they are',
    });
    await stack.stop();
    const engine = findEngine({ wish: world.engine });
    return {
      checks: judgeOverload({ ...real, openDoor }),
      cells: real.aftermath.acked,
      engine: engine ? engineName(engine) : 'unknown engine',
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

/**
 * The overload with all protections; what is there afterwards; and the same stack again under clients without a budget.
 */
async function overloadWhole(world: RunWorld) {
  const { seed, signal, say } = world;
  await using parts = new AsyncDisposableStack();
  const stack = await startStack(world, 'real', parts);
  const { url } = stack;
  const load = await runLoad(world, {
    url,
    seed,
    overloadSeconds: OVERLOAD_SECONDS,
    recoverySeconds: RECOVERY_SECONDS,
    patienceSeconds: PATIENCE_SECONDS,
    retries: 'as they are',
  });
  say(
    `${load.written.acked.length.toLocaleString('en-US')} cells acknowledged; waiting for the buffers, then reading all back`,
  );
  const datastore = schemalessClient({ url, datastore: DATASTORE });
  const aftermath = await inspect({ datastore, groups: stack.groups, written: load.written, signal });
  const refusedMissing = await countUnreadable(datastore, load.refusedCells);
  say('the control: clients without a retry budget');
  const unbounded = await runLoad(world, {
    url,
    seed: `${seed}/unbounded`,
    normal: load.normal,
    overloadSeconds: CONTROL_OVERLOAD_SECONDS,
    recoverySeconds: 0,
    patienceSeconds: CONTROL_PATIENCE_SECONDS,
    retries: 'unbounded',
  });
  await stack.stop();
  return { load, aftermath, refusedMissing, unbounded };
}

async function startStack(
  { folder, engine, signal }: RunWorld,
  name: string,
  parts: AsyncDisposableStack,
  functionsFolder?: string,
): Promise<StackProcess> {
  const data = join(folder, name);
  const options: OverloadStackOptions = {
    data,
    port: 0,
    readers: 0,
    shards: SHARDS,
    engine,
    delayMs: DELAY_MS,
    functionsFolder,
    isOpenDoor: functionsFolder !== undefined,
  };
  const stack = await StackProcess.start({ program: STACK, args: [JSON.stringify(options)], data, signal });
  // After a clean stop there is nothing left to kill.
  parts.defer(() => stack.killAll().catch(() => undefined));
  return stack;
}
