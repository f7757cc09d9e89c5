import { afterEachPause } from '../pause-for.ts';
import { repeat, type Turns } from '../repeat.ts';
import { untilEnd } from '../until-end.ts';
import type { Lease, Leases } from './lease.ts';
import { underLease } from './under-lease.ts';

/** Work in the background that one process at a time does. */
export interface Job {
  /** The name of its lease. */
  readonly lease: string;
  /** Under the lease: loads what the previous run left, and begins the works. An error ends the run. */
  readonly begin: (held: HeldJob) => Promise<void> | void;
  /** Saves the progress, now and then and at the end. A failed save is retried later. @default nothing to save */
  readonly save?: (lease: Lease, isEnd: boolean) => Promise<unknown>;
}

/** A job under its lease. */
export interface HeldJob {
  readonly lease: Lease;
  /** Comes when the lease is lost or wanted, with the deadline, or when a work failed of a bug. */
  readonly signal: AbortSignal;
  /** Repeats a work in parallel with the others; a running one of that name stays as it is. */
  work(name: string, turns: Turns): void;
  /** The running works. */
  going(): readonly string[];
}

export interface JobRun {
  readonly leases: Leases;
  /** When to end, by `Date.now()`, whatever comes: short of the function's own time limit. */
  readonly deadline: number;
  /** @default it ends with the deadline alone, or for a successor */
  readonly signal?: AbortSignal | undefined;
  /** Between renewals of the lease, which must last for two. @default 3000 */
  readonly renewMs?: number;
  /** Between tries to take it. @default 1000 */
  readonly takeEveryMs?: number;
}

/** Between saves: what a killed run loses. */
const SAVE_EVERY_MS = 10_000;

/**
 * Runs a job until its works are over, a successor asks for the lease, the lease is lost, or the deadline. Works run in
 * parallel: one that fails or is slow delays no other. A turn that hangs delays the end, not the lease, which expires.
 * Returns whether a successor asked; undefined if the lease was not taken. Throws the error of `begin`, or of a work's
 * `failed`.
 */
export async function runJob(run: JobRun, job: Job): Promise<boolean | undefined> {
  const { leases, deadline, renewMs = 3000, takeEveryMs = 1000 } = run;
  const { signal, end } = untilEnd(run.signal ?? new AbortController().signal);
  const timer = setTimeout(end, Math.max(0, deadline - Date.now()));
  try {
    const leased = { leases, name: job.lease, renewMs, takeEveryMs, isPatient: true, signal };
    return (await underLease(leased, (until, lease) => workOn(job, lease, until)))?.isWanted;
  } finally {
    clearTimeout(timer);
    end();
  }
}

async function workOn(job: Job, lease: Lease, until: AbortSignal): Promise<void> {
  const { signal, end } = untilEnd(until);
  const works = new Map<string, Promise<void>>();
  const bugs: unknown[] = [];
  const save = async (isEnd: boolean): Promise<void> => void (await job.save?.(lease, isEnd).catch(() => undefined));
  try {
    await job.begin({
      lease,
      signal,
      work(name, turns) {
        if (works.has(name)) return;
        const bug = (error: unknown): void => {
          bugs.push(error);
          end();
        };
        works.set(
          name,
          repeat(turns, signal)
            .catch(bug)
            .finally(() => works.delete(name)),
        );
      },
      going: () => [...works.keys()],
    });
    const saving = afterEachPause(SAVE_EVERY_MS, signal, () => save(false));
    while (works.size > 0) await Promise.all(works.values());
    end();
    await saving;
  } finally {
    end();
    await Promise.all(works.values());
    await save(true);
  }
  if (bugs.length > 0) throw bugs[0];
}
