import { once } from 'node:events';
import type { Follower } from '../../follow/follower.ts';
import type { Pauses } from '../../follow/pace.ts';
import { forgetFollower } from '../../follow/rewind-follower.ts';
import { runFollower, type FollowerRun } from '../../follow/run-follower.ts';
import type { ReaderWatch } from '../../follow/reader-watch.ts';
import { untilEnd } from '../../until-end.ts';
import type { Workers } from '../../follow/workers.ts';
import type { PhysicalIndex } from '../index-table.ts';
import type { Leases } from '../../dynamo/lease.ts';
import { runJob } from '../../dynamo/run-job.ts';
import type { IndexCatalogue } from '../../topology/index-catalogue.ts';
import { buildFollower, buildName, throttleTo, type Throttle } from './build-follower.ts';
import { beginChores } from './chores.ts';
import { pendingMarks, type PendingMarks } from './pending-marks.ts';
import { repairFollower } from './repair-follower.ts';
import type { RepairWork } from './repair-work.ts';

export interface DatastoreRun {
  readonly workers: Workers;
  readonly leases: Leases;
  readonly readers: ReaderWatch;
  readonly deadline: number;
  readonly renewMs: number;
  readonly slot: number;
  readonly signal: AbortSignal;
}

const TAKE_PAUSE_MS = 1000;
/** Cells of a shard at a time. Few for a build, so that it shows progress and ends soon. */
const BUILD_CELLS = 40;
const REPAIR_CELLS = 100;
/** Nothing waits for the repair: at 20 ms its comparisons made a third of all statements. */
const REPAIR_PAUSES: Pauses = { leastMs: 1000, mostMs: 5000, shareOfQuiet: 1 };

interface RunningFollower {
  readonly end: () => void;
  over: boolean;
}

/** Repairs the indexes of one datastore: follows its logs, and does under a lease what one run alone does. */
export class DatastoreRepair {
  /** Never fails. */
  readonly ended: Promise<void>;
  readonly #work: RepairWork;
  readonly #run: DatastoreRun;
  readonly #pending: PendingMarks;
  readonly #throttle: Throttle;
  readonly #running = new Map<string, RunningFollower>();
  readonly #tasks = new Set<Promise<void>>();
  #isChoring = false;

  constructor(work: RepairWork, run: DatastoreRun) {
    this.#work = work;
    this.#run = run;
    this.#pending = pendingMarks(work.stateTable, work.datastore);
    this.#throttle = throttleTo(work.settings.buildCellsPerSecond);
    this.#spawn(work.mistyped.keep(run.signal));
    this.ended = this.#end();
  }

  /** Runs what the catalogue lists; `isSucceeded`: begins nothing any more. */
  poll(catalogues: readonly IndexCatalogue[], isSucceeded: boolean): void {
    const building = buildsOf(catalogues);
    for (const [name, { end }] of this.#running) if (name.startsWith('build/') && !building.has(name)) end();
    if (isSucceeded) return;
    // Handed over to a successor that is gone again.
    for (const [name, { over }] of this.#running) if (over) this.#running.delete(name);
    if (this.#run.slot === 0 && !this.#isChoring) this.#doChores();
    const hasLive = catalogues.some(({ versions }) => versions.some(({ state }) => state === 'live'));
    if (!this.#running.has('repair')) this.#repair(hasLive);
    for (const [name, index] of building) if (!this.#running.has(name)) this.#build(name, index);
  }

  isOver(): boolean {
    return [...this.#running.values()].every(({ over }) => over);
  }

  async #end(): Promise<void> {
    const { signal } = this.#run;
    if (!signal.aborted) await once(signal, 'abort');
    while (this.#tasks.size > 0) await Promise.allSettled(this.#tasks);
  }

  #spawn(task: Promise<void>): void {
    this.#tasks.add(task);
    void task.finally(() => this.#tasks.delete(task));
  }

  #repair(hasLive: boolean): void {
    const { behindMs, commitEveryMs } = this.#work.settings;
    this.#follow('repair', () => repairFollower(this.#work, this.#pending, hasLive), {
      behindMs,
      pageCells: REPAIR_CELLS,
      pauses: REPAIR_PAUSES,
      commitEveryMs,
    });
  }

  #build(name: string, index: PhysicalIndex): void {
    const { stateTable, datastore } = this.#work;
    this.#follow(
      name,
      (signal) => buildFollower(this.#work, index, this.#throttle, signal),
      { behindMs: 0, pageCells: BUILD_CELLS },
      () => forgetFollower(stateTable, { name, datastore }),
    );
  }

  /** Runs a follower; a failed one begins again at the next poll. */
  #follow(
    name: string,
    make: (signal: AbortSignal) => Follower,
    rest: Pick<FollowerRun, 'behindMs' | 'pageCells' | 'pauses' | 'commitEveryMs'>,
    whenEnded: () => Promise<void> = async () => undefined,
  ): void {
    const { context, stateTable, topologyTable, datastore, report } = this.#work;
    const { deadline, workers, signal: ending } = this.#run;
    const { signal, end } = untilEnd(ending);
    const entry: RunningFollower = { end, over: false };
    this.#running.set(name, entry);
    const options: FollowerRun = {
      follower: make(signal),
      context,
      stateTable,
      topologyTable,
      deadline,
      signal,
      workers,
      read: 'reader',
      readers: this.#run.readers,
      ...rest,
      report: (event) => report({ datastore, kind: 'followed', follower: name, event }),
    };
    const following = async (): Promise<void> => {
      try {
        await runFollower(options);
        entry.over = !signal.aborted;
        if (!ending.aborted && signal.aborted) await whenEnded();
      } catch (error) {
        report({ datastore, kind: 'failed', what: name, error });
      }
      end();
      // A follower that ended keeps no successor waiting.
      workers.ready(`${name}#${datastore}`, true);
      if (!entry.over) this.#running.delete(name);
    };
    this.#spawn(following());
  }

  #doChores(): void {
    this.#isChoring = true;
    const { datastore, report } = this.#work;
    const chores = runJob(
      { ...this.#run, takeEveryMs: TAKE_PAUSE_MS },
      {
        lease: `repair/${datastore}`,
        begin: (held) => beginChores(this.#work, this.#pending, this.#run, held),
      },
    );
    const done = async (): Promise<void> => {
      const isWanted = await chores.catch((error: unknown) =>
        report({ datastore, kind: 'failed', what: 'chores', error }),
      );
      // Lost without a successor: it is taken again.
      if (isWanted !== true) this.#isChoring = false;
    };
    this.#spawn(done());
  }
}

function buildsOf(catalogues: readonly IndexCatalogue[]): ReadonlyMap<string, PhysicalIndex> {
  const building = new Map<string, PhysicalIndex>();
  for (const { name, versions } of catalogues) {
    for (const { hash, definition, state } of versions)
      if (state === 'building') building.set(buildName({ name, hash }), { name, hash, definition });
  }
  return building;
}
