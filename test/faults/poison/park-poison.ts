import type { RunWorld } from '../../support/run-world.ts';
import { deliveryFigure, isWhole } from '../triggers/judge-deliveries.ts';
import { isPoison } from '../triggers/poison.ts';
import { CONTROL_PATIENCE_MS, type PartOutcome } from '../triggers/part.ts';
import { Scene } from '../triggers/scene.ts';
import type { TriggerStage } from '../../support/triggers/trigger-stage.ts';
import { parkedCells } from './parked.ts';

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
export async function parkPoison(world: RunWorld, stage: TriggerStage): Promise<PartOutcome> {
  const [real, control] = await Promise.all([
    park(world, stage, 'poison', MAX_ATTEMPTS),
    park(world, stage, 'poison_control', NEVER),
  ]);
  return {
    checks: [
      {
        what: 'poison cells not parked, others parked; others delivered; control: nothing is parked',
        figure: `${real.missing} of ${real.poison}, ${real.extra}; ${deliveryFigure(real.verdict)}`,
        bar: '0 of at least 5, 0; 0, 0',
        passed: real.poison >= 5 && real.missing + real.extra === 0 && isWhole(real.verdict),
        control: {
          figure: `${control.missing} of ${control.poison}, ${control.extra}; ${deliveryFigure(control.verdict)}`,
          failed: control.missing > 0 && control.verdict.never > 0,
        },
      },
    ],
    cells: real.verdict.due + real.poison,
    notes: [`calls: ${real.calls}, of which ${real.failed} failed`],
  };
}

async function park(world: RunWorld, stage: TriggerStage, name: string, maxAttempts: number) {
  await using scene = await Scene.start(world, stage, {
    name,
    definition: { maxAttempts, stopAfterParked: NEVER },
    poison: POISON,
    pauseMs: PAUSE_MS,
    consumer: { failsOnPoison: true },
    tailers: [{}],
  });
  await (maxAttempts === NEVER
    ? scene.load(CONTROL_SECONDS, CONTROL_CELLS)
    : scene.load(world.seconds ?? SECONDS, CELLS));
  await scene.stopWriters();
  const isDue = (cell: { readonly ref_key: number }): boolean => !isPoison(cell);
  const verdict = await scene.settle(maxAttempts === NEVER ? { isDue, patienceMs: CONTROL_PATIENCE_MS } : { isDue });
  const wanted = new Set((await scene.logged()).filter(isPoison).map(({ shard, added_id }) => `${shard}/${added_id}`));
  let parked = await parkedCells(scene);
  // The last of a log may wait for its last attempt when everything else is delivered.
  if (maxAttempts !== NEVER)
    await scene
      .until(
        'the last poison cell is parked',
        async () => (parked = await parkedCells(scene)).size >= wanted.size,
        15_000,
      )
      .catch(() => undefined);
  await scene.end();
  return {
    verdict,
    poison: wanted.size,
    missing: wanted.difference(parked).size,
    extra: parked.difference(wanted).size,
    ...scene.called(),
  };
}
