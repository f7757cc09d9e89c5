import { setTimeout as sleep } from 'node:timers/promises';
import { killNode, untilAllRun } from '../../support/nodes.ts';
import type { DatastoreAccess } from '../../support/store-access.ts';
import type { RaceInput, RaceProgress } from './race-process.ts';
import { RestartedProcess } from './restarted-process.ts';
import type { Stage } from '../stage.ts';
import type { Repair } from './start-repair.ts';
import type { Variation } from './variation.ts';

export interface RaceOptions {
  readonly access: DatastoreAccess;
  readonly seconds: number;
  readonly variation: Variation;
  /** Killed in the middle too. Undefined: none runs. */
  readonly repair: Repair | undefined;
}

export interface Raced extends RaceProgress {
  /** Processes of writers that were killed in the middle of writes. */
  readonly kills: number;
}

const PROCESSES = 4;
const WRITERS_EACH = 2;
/** Between kills of a process of writers. */
const KILL_EVERY_MS = 1500;
/** Into the race, as shares of it: when the repair is killed, and when a group's writer is. */
const REPAIR_KILLED_AT = 0.35;
const SERVER_KILLED_AT = 0.6;
const POLL_MS = 50;

/**
 * Eight writers in four processes race for the same rows, while they, the repair and a group's writer are killed.
 * Returns once all servers run again.
 */
export async function race(
  { cluster, servers, world: { seed, signal, say } }: Stage,
  { access, seconds, variation, repair }: RaceOptions,
): Promise<Raced> {
  using stack = new DisposableStack();
  const since = Date.now();
  const racers = Array.from({ length: PROCESSES }, (_, place) =>
    stack.use(
      new RestartedProcess<RaceInput, RaceProgress>(
        new URL('race-process.ts', import.meta.url),
        cluster.folder,
        (life) => {
          // A process that starts again is other writers: their ref keys and choices are others.
          const writers = Array.from(
            { length: WRITERS_EACH },
            (_unused, writer) => ((life * PROCESSES + place) * WRITERS_EACH + writer) % 100,
          );
          return { access, writers, seed, since, variation };
        },
      ),
    ),
  );
  await Promise.all(racers.map(({ ready }) => ready));
  const start = performance.now();
  const elapsed = (): number => performance.now() - start;
  const at = async (milliseconds: number): Promise<void> => {
    while (elapsed() < milliseconds) await sleep(POLL_MS, undefined, { signal });
  };

  const killRacers = async (): Promise<void> => {
    for (let kill = 1; kill * KILL_EVERY_MS < seconds * 1000; kill += 1) {
      await at(kill * KILL_EVERY_MS);
      // Where processes take long to start there are fewer kills.
      if (elapsed() > seconds * 1000) return;
      // The last one lives: what it writes late comes.
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
    say(`kill -9 of ${await killNode(servers, servers.groups.at(-1)?.name ?? '')}`);
  };
  await Promise.all([killRacers(), killRepair(), killServer(), at(seconds * 1000)]);
  await Promise.all(racers.map((racer) => racer.stop()));
  await untilAllRun(servers, signal);

  const said = racers.flatMap(({ progress }) => progress);
  const sum = (what: keyof RaceProgress): number => said.reduce((all, progress) => all + progress[what], 0);
  const raced = {
    acked: sum('acked'),
    entries: sum('entries'),
    late: sum('late'),
    changed: sum('changed'),
    kills: racers.reduce((all, { kills }) => all + kills, 0),
  };
  if (raced.late === 0) throw new Error('no write of entries was late');
  say(`${raced.acked.toLocaleString('en-US')} cells of the same rows written, ${raced.kills} processes killed at it`);
  return raced;
}
