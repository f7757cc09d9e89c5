import { isPoison } from '../triggers/consumer-variation.ts';
import { bothWays, deliveryFigure, isWhole, type PartOutcome, type Setting } from '../triggers/part.ts';
import { Scene } from '../triggers/scene.ts';

const POISON = 0.03;
const MAX_ATTEMPTS = 2;
const SECONDS = 10;
const CONTROL_SECONDS = 4;
/** So many that poison is among them, a dozen and some, however slow the machine is. */
const CELLS = 400;
const CONTROL_CELLS = 250;
const PAUSE_MS = 100;
/** More than a run ever makes. */
const NEVER = 1000;

/** The poison cells are parked, no other one, and all others are delivered in order. */
export async function parkPoison(setting: Setting): Promise<PartOutcome> {
  const [real, control] = await bothWays('poison', (name, isReal) => park(setting, name, isReal));
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
}

async function park(setting: Setting, name: string, isReal: boolean) {
  await using scene = await Scene.start(setting, {
    name,
    definition: { maxAttempts: isReal ? MAX_ATTEMPTS : NEVER, stopAfterParked: NEVER },
    poison: POISON,
    pauseMs: PAUSE_MS,
    consumer: { failsOnPoison: true },
    tailers: [{}],
  });
  if (isReal) await scene.load(setting.world.seconds ?? SECONDS, CELLS);
  else await scene.load(CONTROL_SECONDS, CONTROL_CELLS);
  const verdict = await scene.conclude({ isReal, isDue: (cell) => !isPoison(cell) });
  const wanted = new Set((await scene.logged()).filter(isPoison).map(({ shard, added_id }) => `${shard}/${added_id}`));
  let parked = await scene.parked();
  // The last of a log may wait for its last attempt when everything else is delivered.
  const isParked = async (): Promise<boolean> => (parked = await scene.parked()).size >= wanted.size;
  if (isReal) await scene.until('the last poison cell is parked', isParked, 15_000).catch(() => undefined);
  await scene.end();
  return {
    verdict,
    poison: wanted.size,
    missing: wanted.difference(parked).size,
    extra: parked.difference(wanted).size,
    ...scene.called(),
  };
}
