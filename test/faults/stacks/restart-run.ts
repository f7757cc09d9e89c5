import { setTimeout as sleep } from 'node:timers/promises';
import { operatorsClient } from '../../support/operators-client.ts';
import { kill, type StackProcess } from '../../support/processes/stack-process.ts';
import { DATASTORE } from '../../support/store-access.ts';
import { faultsLine, inspect, lossCheck, type Aftermath } from '../aftermath.ts';
import { grouped, type FaultRun, type RunWorld } from '../fault-run.ts';
import { BATCHES_AND_REPEATS } from '../load/cell-source.ts';
import { allWritten, type Written } from '../load/ledger.ts';
import { startLoad } from '../load/start-load.ts';
import { startProduct, startProgram } from '../stack-program.ts';

const CELLS = 2000;
const SHARDS = 32;
const WRITERS = 8;
const LOAD_PATIENCE_MS = 180_000;
/** How long a group has been down, with its writes in the buffer, when everything is killed. */
const GROUP_DOWN_MS = 6000;
/** Longer than that: its servers come back with the next start alone. */
const RESTART_AFTER_SECONDS = 30;
const UNSAFE_START = new URL('unsafe-stack.ts', import.meta.url);

export const restartRun: FaultRun = {
  name: 'restart',
  promise:
    'What was acknowledged is there, and what was buffered is drained, after a whole stack ended and started again on its folder',
  fault:
    'a whole local stack under writers over HTTP: stopped; kill -9 of everything, one group down before; kill -9 of the parent alone',
  control: 'started on another folder; unsafe flushing for the kill -9 of everything',

  async run(world) {
    const { stopped, killed, orphaned, left, buffered } = await endInEveryWay(world);
    world.say(`the control: ${restartRun.control}`);
    const { unsafe, elsewhere } = await control(world);
    return {
      checks: [
        lossCheck('cells lost, other faults: stopped', stopped, elsewhere, CELLS),
        lossCheck('… kill -9 of everything', killed, unsafe, 2 * CELLS),
        lossCheck('… kill -9 of the parent', orphaned, elsewhere, 3 * CELLS),
      ],
      cells: orphaned.acked,
      notes: [
        `answers buffered, when everything was killed: ${grouped(buffered)}; none left ${killed.drainSeconds.toFixed(1)} s after the start`,
        `servers that the parent left behind: ${left}`,
        faultsLine(orphaned),
        ...orphaned.wrongExamples,
        `the control's ${faultsLine(unsafe)}`,
      ],
    };
  },
};

/** Throws where the fault was none: nothing was buffered, or no server left behind. */
async function endInEveryWay(world: RunWorld) {
  const { signal, say } = world;
  const start = (functions: string): Promise<StackProcess> =>
    startProduct(world, 'real', { shards: SHARDS, 'restart-after': RESTART_AFTER_SECONDS, functions });
  await using under = new StackUnderTest(world);
  await under.start(start('threads'));
  await under.writeAndEnd('first', async (stack) => {
    say('stopping it');
    await stack.stop();
  });
  await under.start(start('threads'));
  const stopped = await under.inspect();

  const buffered = await under.writeAndEnd('second', async (stack) => {
    kill(stack.endpoints.groups[0]?.writer.pid ?? 0);
    await sleep(GROUP_DOWN_MS, undefined, { signal });
    say('kill -9 of everything');
    await stack.killAll();
  });
  if (buffered === 0) throw new Error('no write was buffered while a group was down');
  await under.start(start('process'));
  const killed = await under.inspect();

  let left = 0;
  await under.writeAndEnd('third', async (stack) => {
    left = (await stack.killParent()).length;
    say(`kill -9 of the parent: ${left} servers are left behind`);
  });
  if (left === 0) throw new Error('the parent left no server behind');
  const stack = await under.start(start('threads'));
  const orphaned = await under.inspect();
  await stack.stop();
  return { stopped, killed, orphaned, left, buffered };
}

async function control(world: RunWorld) {
  const options = { shards: SHARDS, readers: 0, restartAfterSeconds: RESTART_AFTER_SECONDS };
  const start = (name: string): Promise<StackProcess> => startProgram(world, name, UNSAFE_START, options);
  await using under = new StackUnderTest({ ...world, history: undefined });
  await under.start(start('unsafe'));
  await under.writeAndEnd('control', (stack) => stack.killAll());
  let stack = await under.start(start('unsafe'));
  const unsafe = await under.inspect();
  await stack.stop();
  stack = await under.start(start('elsewhere'));
  const elsewhere = await under.inspect();
  await stack.stop();
  return { unsafe, elsewhere };
}

class StackUnderTest implements AsyncDisposable {
  #stack: StackProcess | undefined;
  readonly #world: RunWorld;
  readonly #written: Written[] = [];

  constructor(world: RunWorld) {
    this.#world = world;
  }

  async start(starting: Promise<StackProcess>): Promise<StackProcess> {
    return (this.#stack = await starting);
  }

  get #running(): StackProcess {
    if (!this.#stack) throw new Error('no stack was started');
    return this.#stack;
  }

  /** Writes until enough cells are acknowledged, then ends the stack under load. Returns how many were `buffered`. */
  async writeAndEnd(part: string, end: (stack: StackProcess) => Promise<void>): Promise<number> {
    const { seed, history } = this.#world;
    const target = { kind: 'http', url: this.#running.url } as const;
    const named = { seed: `${seed}/${part}`, run: `restart/${part}`, history };
    using load = startLoad({ target, writers: WRITERS, cells: BATCHES_AND_REPEATS, ...named }, this.#world);
    await load.ready;
    await load.untilAcked(CELLS, LOAD_PATIENCE_MS);
    await end(this.#running);
    const { written } = await load.stop();
    this.#written.push(written);
    return written.outcomes.buffered;
  }

  async inspect(): Promise<Aftermath> {
    const { groups, url } = this.#running;
    const { signal, say } = this.#world;
    const datastore = operatorsClient({ url, datastore: DATASTORE });
    const aftermath = await inspect({ datastore, groups, written: allWritten(this.#written), signal });
    const { lost, acked, drainSeconds } = aftermath;
    say(`started again: ${lost} of ${grouped(acked)} lost, buffer empty after ${drainSeconds.toFixed(1)} s`);
    return aftermath;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // After a clean stop there is nothing left to kill.
    await this.#stack?.killAll().catch(() => undefined);
  }
}
