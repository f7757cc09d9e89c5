import { startTriggerStage } from '../../support/triggers/trigger-stage.ts';
import { sumOf, type FaultRun } from '../fault-run.ts';
import { deliveryFigure, isPoison, isWhole } from './deliveries.ts';
import { twoWays, type Part, type Setting } from './part.ts';
import { Scene } from './scene.ts';

export const poisonRun: FaultRun = {
  name: 'poison',
  promise:
    'A cell that its trigger fails on is parked, and the rest goes on; too many of them stop the trigger; nothing is lost of either',
  fault: '8 writers of cells of which some are poison: the function fails on them every time',
  control: 'nothing is ever parked; nothing ever stops; no retry',

  async run(world) {
    await using stage = await startTriggerStage(world, { groups: 1, readers: 0, shards: 24 });
    const outcomes = await Promise.all([parkPoison, stopAndResume].map((part) => part.carryOut({ world, stage })));
    return {
      checks: outcomes.flatMap(({ checks }) => checks),
      cells: sumOf(outcomes.map(({ cells }) => cells)),
      notes: outcomes.flatMap(({ notes }) => notes),
    };
  },
};

/** More than a run ever makes. */
const NEVER = 10_000;
/** More than one: on a slow machine a message may come a second time while it is in hand. */
const MAX_ATTEMPTS = 2;

const parkPoison = twoWays({
  name: 'poison',
  fault: 'some cells are poison',
  async act(setting, name, isReal) {
    await using scene = await Scene.start(setting, {
      name,
      definition: { maxAttempts: isReal ? MAX_ATTEMPTS : NEVER, stopAfterParked: NEVER },
      poison: 0.03,
      pauseMs: 100,
      consumer: { failsOnPoison: true },
      tailers: [{}],
    });
    // So many cells that poison is among them, a dozen and some, however slow the machine is.
    if (isReal) await scene.load(setting.world.seconds ?? 10, 400);
    else await scene.load(4, 250);
    const verdict = await scene.conclude({ isReal, isDue: (cell) => !isPoison(cell) });
    const poison = (await scene.logged()).filter(isPoison).map(({ shard, added_id }) => `${shard}/${added_id}`);
    const wanted = new Set(poison);
    let parked = await scene.parked();
    // The last of a log may wait for its last attempt when everything else is delivered.
    const isParked = async (): Promise<boolean> => (parked = await scene.parked()).size >= wanted.size;
    if (isReal) await scene.until('the last poison cell is parked', isParked, 15_000).catch(() => undefined);
    await scene.end();
    const [missing, extra] = [wanted.difference(parked).size, parked.difference(wanted).size];
    return { verdict, poison: wanted.size, missing, extra, ...scene.called() };
  },
  judge(real, control) {
    const figure = ({ missing, poison, extra, verdict }: typeof real): string =>
      `${missing} of ${poison}, ${extra}; ${deliveryFigure(verdict)}`;
    return {
      checks: [
        {
          what: 'poison cells not parked, others parked; others delivered; control: nothing is parked',
          figure: figure(real),
          bar: '0 of at least 5, 0; 0, 0',
          passed: real.poison >= 5 && real.missing + real.extra === 0 && isWhole(real.verdict),
          control: { figure: figure(control), failed: control.missing > 0 && control.verdict.never > 0 },
        },
      ],
      cells: real.verdict.due + real.poison,
      notes: [`calls: ${real.calls}, of which ${real.failed} failed`],
    };
  },
});

const THRESHOLD = 10;
const SETTLE_SECONDS = 2;
const QUIET_SECONDS = 4;
/** Were parked cells sent again by themselves, they would come by then. */
const RETRIES_MS = 3000;
/** The batches that a process consumes side by side: each may be parking a cell when it stops. */
const CONCURRENT = 6;
const FAILING = { poison: 0.1, consumer: { failsOnPoison: true }, tailers: [{}] };

/** So many parked cells stop the trigger; once its function is mended, retry and resume deliver the rest. */
const stopAndResume: Part = {
  fault: 'so many cells are poison that the trigger stops',
  async carryOut(setting) {
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
  },
};

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
  await scene.operate((operations, trigger) => operations.resumeTrigger({ trigger }));
  const others = await scene.settle({ isDue: (cell) => !isPoison(cell) });
  const resumedOnly = await scene.settle({ patienceMs: RETRIES_MS });
  await scene.operate((operations, trigger) => operations.retryParkedCells({ trigger, cells: '*' }));
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
  return await scene.operate(async (operations, trigger) => (await operations.getTrigger({ trigger })).state);
}
