import { kill } from '../../support/processes/stack-process.ts';
import { faultsLine, lossCheck, type Aftermath } from '../aftermath.ts';
import { grouped, type FaultRun, type RunWorld } from '../fault-run.ts';
import { BATCHES_AND_REPEATS } from '../load/cell-source.ts';
import { allWritten, type Written } from '../load/ledger.ts';
import { startLoad } from '../load/start-load.ts';
import { startProduct, startProgram } from '../stack-program.ts';
import { WholeStack } from '../whole-stack.ts';

const CELLS = 2000;
const SHARDS = 32;
const WRITERS = 8;
const LOAD_PATIENCE_MS = 180_000;
/** How long a group has been down, with buffered writes, when everything is killed. */
const GROUP_DOWN_MS = 6000;
/** Longer than that: its servers come back only with the next start. */
const RESTART_AFTER_SECONDS = 30;
const UNSAFE_START = new URL('unsafe-stack.ts', import.meta.url);

export const restartRun: FaultRun = {
  name: 'restart',
  promise:
    'Acknowledged cells are there, and buffered ones are drained, after a whole stack ended and started again on its folder',
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

/** Throws if the fault had no effect: no write was buffered, or no server left behind. */
async function endInEveryWay(world: RunWorld) {
  const { say } = world;
  const start = (functions: string) => () =>
    startProduct(world, 'real', { shards: SHARDS, 'restart-after': RESTART_AFTER_SECONDS, functions });
  await using stack = await WholeStack.start(world, 'real', start('threads'));
  const parts: Written[] = [];
  parts.push(
    await writtenUntil(stack, 'first', async () => {
      say('stopping it');
      await stack.process.stop();
    }),
  );
  await stack.startAgain();
  const stopped = await inspected(stack, parts);

  const second = await writtenUntil(stack, 'second', async () => {
    kill(stack.process.endpoints.groups[0]?.writer.pid ?? 0);
    await stack.wait(GROUP_DOWN_MS);
    say('kill -9 of everything');
    await stack.process.killAll();
  });
  parts.push(second);
  const { buffered } = second.outcomes;
  if (buffered === 0) throw new Error('no write was buffered while a group was down');
  await stack.startAgain(start('process'));
  const killed = await inspected(stack, parts);

  let left = 0;
  parts.push(
    await writtenUntil(stack, 'third', async () => {
      left = (await stack.process.killParent()).length;
      say(`kill -9 of the parent: ${left} servers are left behind`);
    }),
  );
  if (left === 0) throw new Error('the parent left no server behind');
  await stack.startAgain(start('threads'));
  const orphaned = await inspected(stack, parts);
  await stack.process.stop();
  return { stopped, killed, orphaned, left, buffered };
}

async function control(world: RunWorld) {
  const options = { shards: SHARDS, readers: 0, restartAfterSeconds: RESTART_AFTER_SECONDS };
  const start = (name: string) => () => startProgram(world, name, UNSAFE_START, options);
  await using stack = await WholeStack.start(world, 'unsafe', start('unsafe'));
  const written = await writtenUntil(stack, 'control', () => stack.process.killAll());
  await stack.startAgain();
  const unsafe = await inspected(stack, [written]);
  await stack.process.stop();
  await stack.startAgain(start('elsewhere'));
  const elsewhere = await inspected(stack, [written]);
  await stack.process.stop();
  return { unsafe, elsewhere };
}

/** Writes until enough cells are acknowledged, then ends the stack under load. */
async function writtenUntil({ world, process }: WholeStack, part: string, end: () => Promise<void>): Promise<Written> {
  const target = { kind: 'http', url: process.url } as const;
  using load = startLoad(
    { target, writers: WRITERS, cells: BATCHES_AND_REPEATS, seed: `${world.seed}/${part}` },
    world,
  );
  await load.ready;
  await load.untilAcked(CELLS, LOAD_PATIENCE_MS);
  await end();
  return (await load.stop()).written;
}

async function inspected(stack: WholeStack, parts: readonly Written[]): Promise<Aftermath> {
  const aftermath = await stack.inspect(allWritten(parts));
  const { lost, acked, drainSeconds } = aftermath;
  stack.world.say(`started again: ${lost} of ${grouped(acked)} lost, buffer empty after ${drainSeconds.toFixed(1)} s`);
  return aftermath;
}
