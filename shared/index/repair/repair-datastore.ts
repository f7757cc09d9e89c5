import type { Follower } from '../../follow/follower.ts';
import type { Pauses } from '../../follow/pace.ts';
import { forgetFollower } from '../../follow/rewind-follower.ts';
import { runFollower, type FollowerRun } from '../../follow/run-follower.ts';
import { untilEnd } from '../../until-end.ts';
import type { Workers } from '../../follow/workers.ts';
import type { PhysicalIndex } from '../index-table.ts';
import type { Leases } from '../../dynamo/lease.ts';
import { underLease } from '../../dynamo/under-lease.ts';
import type { IndexCatalogue } from '../../topology/index-catalogue.ts';
import { buildFollower, throttleTo } from './build-follower.ts';
import { doChores } from './chores.ts';
import { pendingMarks } from './pending-marks.ts';
import { repairFollower } from './repair-follower.ts';
import type { RepairWork } from './repair-work.ts';

export interface DatastoreRun {
  readonly workers: Workers;
  readonly leases: Leases;
  readonly owner: string;
  readonly deadline: number;
  readonly renewMs: number;
  readonly signal: AbortSignal;
}

export interface DatastoreRepair {
  /** Brings what runs in line with what the catalogue lists; `isSucceeded`: begins nothing any more. */
  look(catalogues: readonly IndexCatalogue[], isSucceeded: boolean): void;
  /** A successor has taken over all of it. */
  isOver(): boolean;
  /** Never fails. */
  readonly ended: Promise<void>;
}

/** Between tries to take the lease of the chores. */
const TAKE_PAUSE_MS = 300;
/** Of each shard at a time. Of a build few, so that it shows its progress and ends soon when it should. */
const BUILD_CELLS = 40;
const REPAIR_CELLS = 100;
/**
 * Between passes of the repair: nobody waits for it, and a statement that compares the rows of a second costs a small
 * part of what comparing each by itself would. With 20 ms it took a third of all statements.
 */
const REPAIR_PAUSES: Pauses = { leastMs: 1000, mostMs: 1000 };

interface RunningFollower {
  readonly end: () => void;
  /** Handed over to a successor; not begun anew. */
  over: boolean;
}

/** Repairs the indexes of one datastore: the followers of its logs, and under a lease what one run alone does. */
export function repairDatastore(work: RepairWork, run: DatastoreRun): DatastoreRepair {
  const { datastore, report, settings } = work;
  const pending = pendingMarks(work.stateTable, datastore);
  const throttle = throttleTo(settings.buildCellsPerSecond);
  const running = new Map<string, RunningFollower>();
  const tasks = new Set<Promise<void>>();
  let choring = false;
  spawn(work.mistyped.keep(run.signal));

  function spawn(task: Promise<void>): void {
    tasks.add(task);
    void task.finally(() => tasks.delete(task));
  }

  /** Runs a follower; one that fails is begun anew at the next look. */
  function follow(
    name: string,
    make: (signal: AbortSignal) => Follower,
    rest: Pick<FollowerRun, 'behindMs' | 'pageCells' | 'pauses' | 'commitEveryMs'>,
    whenEnded: () => Promise<void> = async () => undefined,
  ): void {
    const { signal, end } = untilEnd(run.signal);
    const entry: RunningFollower = { end, over: false };
    running.set(name, entry);
    const { context, stateTable, topologyTable } = work;
    const options: FollowerRun = {
      follower: make(signal),
      context,
      stateTable,
      topologyTable,
      owner: run.owner,
      deadline: run.deadline,
      signal,
      workers: run.workers,
      read: 'reader',
      ...rest,
      report: (event) => report({ datastore, kind: 'followed', follower: name, event }),
    };
    const following = async (): Promise<void> => {
      try {
        await runFollower(options);
        entry.over = !signal.aborted;
        if (!run.signal.aborted && signal.aborted) await whenEnded();
      } catch (error) {
        report({ datastore, kind: 'failed', what: name, error });
      }
      end();
      // What is not followed any more keeps no successor waiting.
      run.workers.ready(`${name}#${datastore}`, true);
      if (!entry.over) running.delete(name);
    };
    spawn(following());
  }

  function build(index: PhysicalIndex): void {
    const name = `build/${index.name}/${index.hash}`;
    const forget = (): Promise<void> => forgetFollower(work.stateTable, { name, datastore });
    follow(
      name,
      (signal) => buildFollower(work, index, throttle, signal),
      { behindMs: 0, pageCells: BUILD_CELLS },
      forget,
    );
  }

  function doChoresOnce(): void {
    choring = true;
    const leased = {
      leases: run.leases,
      name: `repair/${datastore}`,
      renewMs: run.renewMs,
      takeEveryMs: TAKE_PAUSE_MS,
      isPatient: true,
      signal: run.signal,
    };
    const chores = underLease(leased, (signal) => doChores(work, pending, run.leases, run.renewMs, signal));
    const done = async (): Promise<void> => {
      const end = await chores.catch((error: unknown) => report({ datastore, kind: 'failed', what: 'chores', error }));
      // Lost, and no successor in sight: it is taken again.
      if (!end?.isWanted) choring = false;
    };
    spawn(done());
  }

  return {
    look(catalogues, isSucceeded) {
      const building = new Map<string, PhysicalIndex>();
      for (const { name, versions } of catalogues) {
        for (const { hash, definition, state } of versions)
          if (state === 'building') building.set(`build/${name}/${hash}`, { name, hash, definition });
      }
      for (const [name, { end }] of running) if (name.startsWith('build/') && !building.has(name)) end();
      if (isSucceeded) return;
      // Handed over to a successor that is gone again.
      for (const [name, { over }] of running) if (over) running.delete(name);
      if (!choring) doChoresOnce();
      const hasLive = catalogues.some(({ versions }) => versions.some(({ state }) => state === 'live'));
      if (!running.has('repair'))
        follow('repair', () => repairFollower(work, pending, hasLive), {
          behindMs: settings.behindMs,
          pageCells: REPAIR_CELLS,
          pauses: REPAIR_PAUSES,
          commitEveryMs: settings.commitEveryMs,
        });
      for (const [name, index] of building) if (!running.has(name)) build(index);
    },
    isOver: () => [...running.values()].every(({ over }) => over),
    ended: (async () => {
      await new Promise<void>((resolve) => {
        if (run.signal.aborted) resolve();
        else run.signal.addEventListener('abort', () => resolve(), { once: true });
      });
      while (tasks.size > 0) await Promise.allSettled(tasks);
    })(),
  };
}
