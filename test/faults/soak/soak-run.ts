import { faultsLine } from '../aftermath.ts';
import { countsLine, grouped, type FaultRun } from '../fault-run.ts';
import { outcomesLine, type Written } from '../load/ledger.ts';
import { countUnreadable } from '../stored-cells.ts';
import { CONNECTIONS, growthOf, PROCESSES, type Growth } from './judge-samples.ts';
import { deleteTrips } from '../delete-trips.ts';
import { stackEngine, startProgram } from '../stack-program.ts';
import { pollUntil } from '../../support/poll-until.ts';
import { WholeStack } from '../whole-stack.ts';
import { judgeSoak } from './judge-soak.ts';
import { settledResult, restOf } from './settle.ts';
import { breakAtRandom } from './soak-faults.ts';
import { checkAt, watchStack, type Sample } from './watch-stack.ts';

const SECONDS = 600;
const CONTROL_SECONDS = 60;
/** In a short run the compared parts are thirds, in the control quarters. */
const PART_SECONDS = 60;
const SHARDS = 24;
const TAILERS = 2;
/** A heap that may grow to the size of functions in the cloud takes more between two collections. */
const FUNCTION_MB = 192;
const INDEX = 'driver_partner_index';
/**
 * A killed scheduled function starts again with the next minute. A message whose receipt was lost with SQS or with its
 * consumer stays hidden for as long as a batch may take. Its shard's messages behind it wait: `hiddenSeconds` of the
 * trigger, and the time that they take then.
 */
const SETTLE_MS = 420_000 + 60_000;
const VERIFY_MS = 60_000;
/** Longer than an idle connection is kept. */
const IDLE_MS = 75_000;
const POLL_MS = 3000;
/** How long a group's writer hangs while the waiting work is counted. */
const HANG_MS = 1500;
const STACK = new URL('soak-stack.ts', import.meta.url);

export const soakRun: FaultRun = {
  name: 'soak',
  promise:
    'After minutes of mixed load and faults nothing has leaked, nothing is left waiting, and everything acknowledged is there',
  fault: 'a whole local stack; servers killed, paused and promoted, SQS and DynamoDB down, functions killed, at random',
  control:
    'the stack leaks memory, connections and processes; a group hangs when it is looked what waits; cells are deleted',

  async run(world) {
    const options = { shards: SHARDS, functions: 'process', functionMemory: FUNCTION_MB, tailers: TAILERS };
    await using stack = await WholeStack.start(world, 'stack', () => startProgram(world, 'stack', STACK, options));
    const real = await soakWhole(stack);
    world.say(`the control: ${soakRun.control}`);
    const control = await sabotage(stack, real.written);
    return {
      checks: judgeSoak(real, control),
      cells: real.aftermath.acked,
      engine: stackEngine(world),
      notes: [
        `faults: ${[...real.faults].map(([what, times]) => `${what} ${times}`).join(', ')}`,
        `calls: ${countsLine(real.counts)}`,
        `memory of ${real.growth.parts}`,
        outcomesLine(real.aftermath.outcomes),
        `${settledResult(real.rest)} left ${real.rest.seconds.toFixed(1)} s after the load; parked cells sent again: ${real.rest.retried}`,
        faultsLine(real.aftermath),
        ...real.written.wrongExamples,
      ],
    };
  },
};

async function soakWhole(stack: WholeStack) {
  const { seed, seconds = SECONDS, say } = stack.world;
  const written = await stack.loaded(seed, SHARDS, async () => {
    using watch = watchStack(stack.process);
    return { faults: await breakAtRandom(stack, seconds), samples: watch.samples };
  });
  const { faults, samples } = written.done;
  say('waiting for what is under way');
  const rest = await stack.settle(SETTLE_MS);
  say(
    `${settledResult(rest)} left after ${rest.seconds.toFixed(1)} s; reading ${grouped(written.acked.length)} cells back`,
  );
  const aftermath = await stack.inspect(written);
  const index = await stack.verifyInTheEnd(INDEX, VERIFY_MS);
  const part = Math.min(PART_SECONDS, seconds / 3);
  const growth = await untilCalm(stack, (end) => growthOf(samples, seconds, part, end));
  return { written, counts: written.counts, faults, rest, growth, aftermath, index };
}

/** Waits for connections, which may stay open for a while after they were last needed. */
async function untilCalm({ process: stack, world }: WholeStack, judge: (end: Sample) => Growth): Promise<Growth> {
  const poll = async (): Promise<Growth> => judge(await checkAt(stack, 0));
  const isCalm = (growth: Growth): boolean => CONNECTIONS.holds(growth) && PROCESSES.holds(growth);
  return await pollUntil(poll, isCalm, { pollMs: POLL_MS, patienceMs: IDLE_MS, signal: world.signal });
}

/** Runs the same stack, with every fault that the checks detect. */
async function sabotage(stack: WholeStack, before: Written) {
  const datastore = stack.client();
  const hanging = (await stack.untilAllRun()).nodes.find(({ role }) => role === 'writer')?.node ?? '';
  const { done: samples } = await stack.loaded(`${stack.world.seed}/leaking`, SHARDS, async () => {
    using watch = watchStack(stack.process);
    process.kill(stack.process.pid, 'SIGUSR2');
    await stack.wait(CONTROL_SECONDS * 1000);
    await stack.send('pause', hanging);
    await stack.wait(HANG_MS);
    return watch.samples;
  });
  const rest = await restOf(stack.data, datastore);
  await stack.send('resume', hanging);
  await stack.untilAllRun();
  const end = await checkAt(stack.process, 0);
  const growth: Growth = growthOf(samples, CONTROL_SECONDS, CONTROL_SECONDS / 4, end);
  const deleted = await deleteTrips(stack.groups, 'group-2');
  return {
    growth,
    rest,
    deleted,
    lost: await countUnreadable(datastore, before.acked),
    acked: before.acked.length,
    index: await stack.verify(INDEX),
  };
}
