import type { RepairSettings } from '../../../shared/index/repair/repair-work.ts';
import type { DatastoreAccess } from '../../support/store-access.ts';
import { grouped, sumOf } from '../fault-run.ts';
import type { Stage } from '../stage.ts';
import type { RaceInput, RaceProgress } from './race-process.ts';
import type { RepairInput, RepairProgress } from './repair-process.ts';
import { RestartedProcess } from './restarted-process.ts';
import { AS_IT_IS, type Variation } from './variation.ts';

interface RaceOptions {
  readonly access: DatastoreAccess;
  readonly seconds: number;
  readonly variation: Variation;
  /** Killed during the race as well. Undefined: none runs. */
  readonly repair: Repair | undefined;
}

const PROCESSES = 4;
const WRITERS_EACH = 2;
const KILL_EVERY_MS = 1500;
/** Shares of the race at which the repair and a group's writer are killed. */
const REPAIR_KILLED_AT = 0.35;
const SERVER_KILLED_AT = 0.6;
const POLL_MS = 50;
const LEAST_CELLS = 1500;
const PATIENCE_MS = 300_000;

/**
 * Races eight writers in four processes for the same rows, while they, the repair and a group's writer are killed.
 * Returns once all servers run again, with the count of killed processes of writers.
 */
export async function race(
  stage: Stage,
  { access, seconds, variation, repair }: RaceOptions,
): Promise<RaceProgress & { readonly kills: number }> {
  const { cluster, servers, say } = stage;
  const { seed } = stage.world;
  using stack = new DisposableStack();
  const since = Date.now();
  const inputOf = (position: number) => (life: number) => {
    // A restarted process has other writers, with other ref keys and choices.
    const first = (life * PROCESSES + position) * WRITERS_EACH;
    const writers = Array.from({ length: WRITERS_EACH }, (_, writer) => (first + writer) % 100);
    return { access, writers, seed, since, variation };
  };
  const module = new URL('race-process.ts', import.meta.url);
  const racers = Array.from({ length: PROCESSES }, (_, position) =>
    stack.use(new RestartedProcess<RaceInput, RaceProgress>(module, cluster.folder, inputOf(position))),
  );
  await Promise.all(racers.map(({ ready }) => ready));
  const start = performance.now();
  const elapsed = (): number => performance.now() - start;
  const at = async (milliseconds: number): Promise<void> => {
    while (elapsed() < milliseconds) await stage.wait(POLL_MS);
  };

  const killRacers = async (): Promise<void> => {
    for (let kill = 1; kill * KILL_EVERY_MS < seconds * 1000; kill += 1) {
      await at(kill * KILL_EVERY_MS);
      // If processes take long to start there are fewer kills.
      if (elapsed() > seconds * 1000) return;
      // The last one lives: its late writes arrive.
      await racers[kill % (PROCESSES - 1)]?.killAndStart();
    }
  };
  const killRepair = async (): Promise<void> => {
    if (!repair) return;
    await at(seconds * 1000 * REPAIR_KILLED_AT);
    say('kill -9 of the repair');
    await repair.killAndStart();
  };
  const killServer = async (): Promise<void> => {
    await at(seconds * 1000 * SERVER_KILLED_AT);
    say(`kill -9 of ${await stage.kill(servers.groups.at(-1)?.name ?? '')}`);
  };
  await Promise.all([killRacers(), killRepair(), killServer(), at(seconds * 1000)]);
  const sum = (what: keyof RaceProgress): number =>
    sumOf(racers.flatMap(({ progress }) => progress).map((output) => output[what]));
  // On a busy machine little is written in that time.
  await stage.comes(() => sum('acked') >= LEAST_CELLS, { patienceMs: PATIENCE_MS });
  await Promise.all(racers.map((racer) => racer.stop()));
  await stage.untilAllRun();

  const kills = sumOf(racers.map((racer) => racer.kills));
  const raced = { acked: sum('acked'), entries: sum('entries'), late: sum('late'), changed: sum('changed'), kills };
  if (raced.late === 0) throw new Error('no write of entries was late');
  say(`${grouped(raced.acked)} cells of the same rows written, ${raced.kills} processes killed at it`);
  return raced;
}

type Repair = RestartedProcess<RepairInput, RepairProgress>;

/** Starts a process that repairs the indexes of a datastore. Returns once it works; its caller ends it. */
export async function startRepair(
  { cluster }: Stage,
  access: DatastoreAccess,
  { variation = AS_IT_IS, settings = {} }: { variation?: Variation; settings?: Partial<RepairSettings> } = {},
): Promise<Repair> {
  const input = { access, variation, settings };
  const repair: Repair = new RestartedProcess(
    new URL('repair-process.ts', import.meta.url),
    cluster.folder,
    () => input,
  );
  await repair.ready;
  return repair;
}
