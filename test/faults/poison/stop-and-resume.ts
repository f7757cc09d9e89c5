import type { RunWorld } from '../../support/run-world.ts';
import { deliveryFigure, isWhole } from '../triggers/judge-deliveries.ts';
import type { PartOutcome } from '../triggers/part.ts';
import { isPoison } from '../triggers/poison.ts';
import { Scene } from '../triggers/scene.ts';
import type { TriggerStage } from '../../support/triggers/trigger-stage.ts';
import { parkedCells } from './parked.ts';

const POISON = 0.1;
/**
 * More than one: on a machine that is slow enough for a message to come a second time while it is in hand, that counts
 * as an attempt.
 */
const MAX_ATTEMPTS = 2;
const THRESHOLD = 10;
const NEVER = 10_000;
/** What was being consumed when it stopped may be delivered and parked a little later. */
const SETTLE_SECONDS = 2;
const QUIET_SECONDS = 4;
/** Were parked cells sent again by themselves, they would come by then. */
const RETRIES_MS = 3000;
/**
 * Consumers that may be parking a cell each when the threshold is reached: the batches that a process consumes side by
 * side.
 */
const CONCURRENT = 6;

/** So many parked cells stop the trigger; once its function is mended, retry and resume deliver the rest. */
export async function stopAndResume(world: RunWorld, stage: TriggerStage): Promise<PartOutcome> {
  const [stopped, endless] = await Promise.all([untilStopped(world, stage), neverStopped(world, stage)]);
  return {
    checks: [
      {
        what: `state at ${THRESHOLD} parked, parked, delivered while stopped; control: no threshold`,
        figure: `${stopped.state}, ${stopped.parked}, ${stopped.meanwhile}`,
        bar: `stopped, ${THRESHOLD} to ${THRESHOLD + CONCURRENT}, 0`,
        passed:
          stopped.state === 'stopped' &&
          stopped.parked >= THRESHOLD &&
          stopped.parked <= THRESHOLD + CONCURRENT &&
          stopped.meanwhile === 0,
        control: {
          figure: `${endless.state}, ${endless.parked}`,
          failed: endless.state === 'running' && endless.parked > THRESHOLD,
        },
      },
      {
        what: 'everything, after retry and resume; control: resume alone',
        figure: `${stopped.all.never} never of ${stopped.all.due}, ${stopped.left} left parked`,
        bar: '0 of at least 100, 0',
        passed: isWhole(stopped.others) && stopped.all.never === 0 && stopped.all.due >= 100 && stopped.left === 0,
        control: {
          figure: `${stopped.resumedOnly.never} never of ${stopped.resumedOnly.due}`,
          failed: stopped.resumedOnly.never > 0,
        },
      },
    ],
    cells: stopped.all.due,
    notes: [`without the poison cells, whose retries pass by the others: ${deliveryFigure(stopped.others)}`],
  };
}

async function untilStopped(world: RunWorld, stage: TriggerStage) {
  await using scene = await Scene.start(world, stage, {
    name: 'stopped',
    definition: { maxAttempts: MAX_ATTEMPTS, stopAfterParked: THRESHOLD },
    poison: POISON,
    consumer: { failsOnPoison: true },
    tailers: [{}],
  });
  const stateNow = () => scene.operate(async (operations, trigger) => (await operations.trigger(trigger)).state);
  await scene.until('it stops', async () => (await stateNow()) === 'stopped');
  await scene.wait(SETTLE_SECONDS);
  const before = scene.deliveries().length;
  await scene.wait(QUIET_SECONDS);
  await scene.stopWriters();
  const meanwhile = scene.deliveries().length - before;
  const [state, parked] = [await stateNow(), (await parkedCells(scene)).size];
  world.say(`${state} with ${parked} parked; the function is mended`);

  await scene.replaceConsumers({});
  await scene.operate((operations, trigger) => operations.resumeTrigger(trigger));
  const others = await scene.settle({ isDue: (cell) => !isPoison(cell) });
  const resumedOnly = await scene.settle({ patienceMs: RETRIES_MS });
  await scene.operate((operations, trigger) => operations.retryParked(trigger, '*'));
  const all = await scene.settle();
  const left = (await parkedCells(scene)).size;
  await scene.end();
  return { state, parked, meanwhile, resumedOnly, all, others, left };
}

async function neverStopped(world: RunWorld, stage: TriggerStage) {
  await using scene = await Scene.start(world, stage, {
    name: 'endless',
    definition: { maxAttempts: 1, stopAfterParked: NEVER },
    poison: POISON,
    consumer: { failsOnPoison: true },
    tailers: [{}],
  });
  await scene.until('many are parked', async () => (await parkedCells(scene)).size > THRESHOLD + CONCURRENT);
  await scene.stopWriters();
  const state = await scene.operate(async (operations, trigger) => (await operations.trigger(trigger)).state);
  const parked = (await parkedCells(scene)).size;
  await scene.end();
  return { state, parked };
}
