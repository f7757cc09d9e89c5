import { setTimeout as sleep } from 'node:timers/promises';
import { faultsLine, lossCheck } from '../aftermath.ts';
import type { FaultRun, RunWorld } from '../fault-run.ts';
import { kill, StackProcess } from '../../support/processes/stack-process.ts';
import { StackUnderTest } from './stack-under-test.ts';
import { stackEngine, startProduct, startProgram } from '../stack-program.ts';

/** Acknowledged before each end of the stack. */
const CELLS = 2000;
const SHARDS = 32;
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
      engine: stackEngine(world),
      notes: [
        `answers buffered, when everything was killed: ${buffered.toLocaleString('en-US')}; none left ${killed.drainSeconds.toFixed(1)} s after the start`,
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
  const { seed, history, signal, say } = world;
  const start = (functions: string): Promise<StackProcess> =>
    startProduct(world, 'real', { shards: SHARDS, 'restart-after': RESTART_AFTER_SECONDS, functions });
  await using under = new StackUnderTest({ seed, history, signal, say });

  under.stack = await start('threads');
  await under.writeAndEnd('first', CELLS, async (stack) => {
    say('stopping it');
    await stack.stop();
  });
  under.stack = await start('threads');
  const stopped = await under.inspect();

  const buffered = await under.writeAndEnd('second', CELLS, async (stack) => {
    kill(stack.endpoints.groups[0]?.writer.pid ?? 0);
    await sleep(GROUP_DOWN_MS, undefined, { signal });
    say('kill -9 of everything');
    await stack.killAll();
  });
  if (buffered === 0) throw new Error('no write was buffered while a group was down');
  under.stack = await start('process');
  const killed = await under.inspect();

  let left = 0;
  await under.writeAndEnd('third', CELLS, async (stack) => {
    left = (await stack.killParent()).length;
    say(`kill -9 of the parent: ${left} servers are left behind`);
  });
  if (left === 0) throw new Error('the parent left no server behind');
  under.stack = await start('threads');
  const orphaned = await under.inspect();
  await under.stack.stop();
  return { stopped, killed, orphaned, left, buffered };
}

async function control(world: RunWorld) {
  const { seed, signal, say } = world;
  const options = { shards: SHARDS, readers: 0, restartAfterSeconds: RESTART_AFTER_SECONDS };
  const start = (name: string): Promise<StackProcess> => startProgram(world, name, UNSAFE_START, options);
  await using under = new StackUnderTest({ seed, history: undefined, signal, say });
  under.stack = await start('unsafe');
  await under.writeAndEnd('control', CELLS, async (stack) => await stack.killAll());
  under.stack = await start('unsafe');
  const unsafe = await under.inspect();
  await under.stack.stop();
  under.stack = await start('elsewhere');
  const elsewhere = await under.inspect();
  await under.stack.stop();
  return { unsafe, elsewhere };
}
