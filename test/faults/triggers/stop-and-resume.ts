import { isPoison } from '../triggers/consumer-variation.ts';
import { deliveryFigure, isWhole, type PartOutcome, type Setting } from '../triggers/part.ts';
import { Scene } from '../triggers/scene.ts';

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
const FAILING = { poison: 0.1, consumer: { failsOnPoison: true }, tailers: [{}] };

/** So many parked cells stop the trigger; once its function is mended, retry and resume deliver the rest. */
export async function stopAndResume(setting: Setting): Promise<PartOutcome> {
  const [stopped, endless] = await Promise.all([untilStopped(setting), neverStopped(setting)]);
  const { state, parked, meanwhile, all, others, resumedOnly, left } = stopped;
  return {
    checks: [
      {
        what: `state at ${THRESHOLD} parked, parked, delivered while stopped; control: no threshold`,
        figure: `${state}, ${parked}, ${meanwhile}`,
        bar: `stopped, ${THRESHOLD} to ${THRESHOLD + CONCURRENT}, 0`,
        passed: state === 'stopped' && parked >= THRESHOLD && parked <= THRESHOLD + CONCURRENT && meanwhile === 0,
        control: {
          figure: `${endless.state}, ${endless.parked}`,
          failed: endless.state === 'running' && endless.parked > THRESHOLD,
        },
      },
      {
        what: 'everything, after retry and resume; control: resume alone',
        figure: `${all.never} never of ${all.due}, ${left} left parked`,
        bar: '0 of at least 100, 0',
        passed: isWhole(others) && all.never === 0 && all.due >= 100 && left === 0,
        control: { figure: `${resumedOnly.never} never of ${resumedOnly.due}`, failed: resumedOnly.never > 0 },
      },
    ],
    cells: all.due,
    notes: [`without the poison cells, whose retries pass by the others: ${deliveryFigure(others)}`],
  };
}

async function untilStopped(setting: Setting) {
  await using scene = await Scene.start(setting, {
    name: 'stopped',
    definition: { maxAttempts: MAX_ATTEMPTS, stopAfterParked: THRESHOLD },
    ...FAILING,
  });
  await scene.until('it stops', async () => (await stateOf(scene)) === 'stopped');
  await scene.wait(SETTLE_SECONDS);
  const before = scene.deliveries().length;
  await scene.wait(QUIET_SECONDS);
  await scene.stopWriters();
  const meanwhile = scene.deliveries().length - before;
  const [state, parked] = [await stateOf(scene), (await scene.parked()).size];
  setting.world.say(`${state} with ${parked} parked; the function is mended`);

  await scene.replaceConsumers({});
  await scene.operate((operations, trigger) => operations.resumeTrigger(trigger));
  const others = await scene.settle({ isDue: (cell) => !isPoison(cell) });
  const resumedOnly = await scene.settle({ patienceMs: RETRIES_MS });
  await scene.operate((operations, trigger) => operations.retryParked(trigger, '*'));
  const all = await scene.settle();
  const left = (await scene.parked()).size;
  await scene.end();
  return { state, parked, meanwhile, resumedOnly, all, others, left };
}

async function neverStopped(setting: Setting) {
  await using scene = await Scene.start(setting, {
    name: 'endless',
    definition: { maxAttempts: 1, stopAfterParked: NEVER },
    ...FAILING,
  });
  await scene.until('many are parked', async () => (await scene.parked()).size > THRESHOLD + CONCURRENT);
  await scene.stopWriters();
  const [state, parked] = [await stateOf(scene), (await scene.parked()).size];
  await scene.end();
  return { state, parked };
}

async function stateOf(scene: Scene): Promise<string> {
  return await scene.operate(async (operations, trigger) => (await operations.trigger(trigger)).state);
}
