import type { Leases } from '../../dynamo/lease.ts';
import type { HeldJob } from '../../dynamo/run-job.ts';
import { ofFirst, type Turns } from '../../repeat.ts';
import { watchPending } from './catch-up.ts';
import { watchBuilds } from './complete-builds.ts';
import { dropRetired } from './drop-retired.ts';
import { dueTimes } from './due-times.ts';
import { largestShares } from './largest-share.ts';
import type { PendingMarks } from './pending-marks.ts';
import { purgeTombstones } from './purge-tombstones.ts';
import type { RepairWork } from './repair-work.ts';
import { verifyCutShards } from './verify-cut-shards.ts';
import { watchWriters } from './watch-writers.ts';

/** Interval of polls of the writers: for so long entries of lost cells may win. */
const WRITERS_MS = 3000;
const RARE_MS = 10_000;

/** Begins what one run alone does for the indexes of a datastore. */
export function beginChores(
  work: RepairWork,
  pending: PendingMarks,
  { leases, renewMs }: { readonly leases: Leases; readonly renewMs: number },
  held: HeldJob,
): void {
  const { signal } = held;
  const { pollMs } = work.settings;
  const due = dueTimes(work.stateTable, work.datastore);
  const shares = largestShares(work, due);
  const chores: readonly (readonly [string, number, Turns['turn']])[] = [
    ['catch-up', pollMs, watchPending(work, pending, signal)],
    ['builds', pollMs, watchBuilds(work, shares)],
    ['counts', pollMs, () => shares.poll()],
    ['writers', WRITERS_MS, watchWriters(work)],
    ['cut logs', pollMs, verifyCutShards(work, signal)],
    ['retired versions', pollMs, () => dropRetired(work, leases, renewMs, signal)],
    ['tombstones', RARE_MS, () => purgeTombstones(work, due, signal)],
  ];
  const { datastore, report } = work;
  for (const [what, everyMs, turn] of chores)
    held.work(what, {
      turn,
      everyMs,
      failed: ofFirst((error) => report({ datastore, kind: 'failed', what, error })),
    });
}
