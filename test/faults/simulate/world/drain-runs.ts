import { LEASE_MS, runDrain } from '../../../../shared/drain/run-drain.ts';
import { progressItems } from '../../../../shared/drain/progress-item.ts';
import { SchemalessError } from '../../../../shared/errors.ts';
import { leases } from '../../../../shared/dynamo/lease.ts';
import type { StartedInstance, World } from './world.ts';

/** The interval of runs. During faults it is shorter than in production, so that each simulation sees hand-overs. */
const EVERY_MS = 60_000;
const LEAST_EVERY_MS = 4000;
const MOST_EVERY_MS = 20_000;
/** How long a run may continue after its successor has started. */
const OVERLAP_MS = 12_000;
const PAGE_ROWS = 20;

export interface DrainPace {
  appendsPerSecond: number;
  /** Runs start more often than in production. */
  isHasty: boolean;
}

/** Starts the drain again and again, as its schedule does; some runs die or freeze. */
export function scheduleDrains(world: World, isFaulty: () => boolean, pace: DrainPace): void {
  const { random, time } = world;
  const oftenMs = random.between(LEAST_EVERY_MS, MOST_EVERY_MS);
  let runs = 0;
  const settings = {
    pageRows: PAGE_ROWS,
    get appendsPerSecond() {
      return pace.appendsPerSecond;
    },
  };

  async function oneRun(everyMs: number): Promise<void> {
    runs += 1;
    const instance = world.start('draining');
    if (isFaulty()) disturb(world, instance, everyMs);
    try {
      await runDrain({
        context: instance.context,
        leases: leases(instance.stateTable, `run-${runs}`, LEASE_MS),
        deadline: Date.now() + everyMs + OVERLAP_MS,
        settings,
        progress: progressItems(instance.stateTable),
        report: () => undefined,
      });
    } catch (error) {
      // It could not even begin.
      if (!(error instanceof SchemalessError)) throw error;
    }
  }

  function startNext(): void {
    const everyMs = pace.isHasty ? oftenMs : EVERY_MS;
    oneRun(everyMs).catch((error: unknown) => world.fail(error));
    time.after(everyMs, startNext);
  }
  startNext();
}

function disturb({ random, time }: World, instance: StartedInstance, everyMs: number): void {
  if (random.chance(0.15)) time.after(random.between(0, everyMs), () => instance.die());
  if (!random.chance(0.15)) return;
  time.after(random.between(0, everyMs), () => instance.freeze(random.between(100, 15_000)));
}
