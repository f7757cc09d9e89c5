import { SchemalessError } from '../errors.ts';
import type { Lease, Leases } from '../dynamo/lease.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { underLease } from '../dynamo/under-lease.ts';
import { lookPauses } from './look-pauses.ts';
import { pauseFor } from '../pause-for.ts';
import { SqlError } from '../sql/client.ts';
import { selectBufferStatus, toBufferStatus, type BufferStatus } from '../sql/statements/select-buffer-status.ts';
import type { StoreContext } from '../access/context.ts';
import { openHolderDrain, type HolderDrain } from './drain-holder.ts';
import { laneTurn, type Lane } from './drain-lane.ts';
import type { DrainReport, DrainSettings } from './drain-settings.ts';
import type { ProgressStore } from './progress-item.ts';
import { recoverPrimary, type Recovery } from './recover-primary.ts';
import { releaseOpened } from './release-undecided.ts';
import { PAUSE_MS } from './turns.ts';
import { undecidedSince } from './undecided-since.ts';

interface DrainRun {
  readonly context: StoreContext;
  readonly leases: Leases;
  /** When to end, by `Date.now()`: short of the function's time limit. */
  readonly deadline: number;
  readonly settings?: DrainSettings;
  readonly topologyTable?: DynamoTable;
  /** Where the run before stood, and this one leaves off. @default each run begins at the first rows */
  readonly progress?: ProgressStore;
  readonly report: (group: string, report: DrainReport) => void;
  readonly recovered?: (group: string, recovery: Recovery) => void;
  /** Called every half minute with what waits in a group's buffer table. */
  readonly measured?: (group: string, status: BufferStatus) => void;
}

const RENEW_MS = 2000;
export const LEASE_MS = 10_000;
const TAKE_PAUSE_MS = 500;
const MEASURE_MS = 30_000;
/** Interval of saves: what a killed run loses. */
const KEEP_MS = 10_000;

/** Drains all groups' buffer tables under their leases, until a successor takes over or the deadline. */
export async function runDrain(run: DrainRun): Promise<void> {
  const groups = await run.context.groups.names();
  if (groups.length < 2) return;
  await Promise.all(groups.map((group) => drainGroup(run, group)));
}

interface HeldDrain {
  readonly run: DrainRun;
  readonly group: string;
  readonly drain: HolderDrain;
  readonly lease: Lease;
  /** Aborts when the lease is lost or wanted, time is up, or a part failed of a bug. */
  readonly signal: AbortSignal;
  readonly end: () => void;
}

async function drainGroup(run: DrainRun, group: string): Promise<void> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const deadline = setTimeout(end, Math.max(0, run.deadline - Date.now()));
  try {
    // An unreachable table ends only this try.
    const leased = {
      leases: run.leases,
      name: `drain/${group}`,
      renewMs: RENEW_MS,
      takeEveryMs: TAKE_PAUSE_MS,
      isPatient: true,
      signal: ending.signal,
    };
    await underLease(leased, async (signal, lease) => {
      // Without the table this run begins at the first rows.
      const progress = await run.progress?.read(group).catch(() => undefined);
      await drainUnder({
        run,
        group,
        lease,
        signal,
        end,
        drain: await openHolderDrain(run.context, group, run.settings, progress),
      });
    });
  } finally {
    clearTimeout(deadline);
  }
}

async function drainUnder(held: HeldDrain): Promise<void> {
  const { run, group, lease, drain, end } = held;
  const recover = openRecovering(held);
  const working = [
    repeat(held, 'primary_failed', recover),
    repeat(held, 'secondary_failed', async () => (await releaseOpened(run.context, group), PAUSE_MS)),
    repeat(held, 'secondary_failed', async () => (await measure(held), MEASURE_MS)),
    repeat(held, 'secondary_failed', async () => (await keep(held), KEEP_MS)),
    repeat(held, 'secondary_failed', async () => (await drain.forgetDrained(held.signal), forgetMs(run.settings))),
    watch(held),
  ];
  // The first that fails of a bug ends the others.
  for (const work of working) work.catch(end);
  await Promise.allSettled(working);
  await run.progress?.write(group, lease, drain.progress()).catch(() => undefined);
  await Promise.all(working);
}

/** Repeats work after the pause that it returns. Reports a group that cannot be reached, and tries again. */
async function repeat(
  { run, group, signal }: HeldDrain,
  failing: 'primary_failed' | 'secondary_failed',
  work: () => Promise<number>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const pauseMs = await work();
      if (pauseMs > 0) await pauseFor(pauseMs, signal);
    } catch (error) {
      if (!(error instanceof SqlError) && !(error instanceof SchemalessError)) throw error;
      run.context.report({ kind: failing, group, error });
      await pauseFor(PAUSE_MS, signal);
    }
  }
}

/** Least time between turns of an idle lane: at 350 puts a second shorter ones doubled the servers' work. */
const LANE_REST_MS = 500;

async function watch(held: HeldDrain): Promise<void> {
  const { run, group, drain } = held;
  const lanes = new Map<Lane, Promise<void>>();
  const pauseAfter = lookPauses();
  await repeat(held, 'secondary_failed', async () => {
    const since = performance.now();
    await drain.watch();
    const took = performance.now() - since;
    for (const lane of drain.lanes.values()) {
      if (lanes.has(lane)) continue;
      const going = repeat(held, 'secondary_failed', async () => {
        const waitMs = await laneTurn(lane);
        return waitMs <= 0 ? 0 : Math.max(LANE_REST_MS, waitMs);
      });
      going.catch(held.end);
      lanes.set(lane, going);
    }
    const report = drain.report();
    if (report.seen > 0) run.report(group, report);
    return pauseAfter(took);
  });
  await Promise.all(lanes.values());
  const report = drain.report();
  if (report.seen > 0) run.report(group, report);
}

/** The ends of a run do not count for kept hints, so looks are frequent. */
const FORGET_MS = 10_000;

function forgetMs({ keepCopiesSeconds = 0 }: DrainSettings = {}): number {
  return keepCopiesSeconds === 0 ? MEASURE_MS : Math.min(FORGET_MS, Math.max(PAUSE_MS, keepCopiesSeconds * 100));
}

async function keep({ run, group, lease, drain }: HeldDrain): Promise<void> {
  const progress = drain.progress();
  if (Object.keys(progress.places).length > 0) await run.progress?.write(group, lease, progress).catch(() => undefined);
}

async function measure({ run, group, drain }: HeldDrain): Promise<void> {
  if (!run.measured) return;
  const client = await run.context.groups.client(group);
  const status = toBufferStatus(await client.select(selectBufferStatus(), 'writer'));
  const oldest = drain.oldest();
  run.measured(group, { ...status, oldest_age: oldest === null ? null : oldest / 1000 });
}

/** Longest pause between recoveries that did no good: each reads all that waits. */
const LONGEST_RECOVERY_PAUSE_MS = 8000;

/** Opens the group's shards after another server became the writer. Returns the pause before the next look. */
function openRecovering({
  run: { context, topologyTable, recovered },
  group,
  signal,
}: HeldDrain): () => Promise<number> {
  const since = undecidedSince();
  let pauseMs = PAUSE_MS;
  return async () => {
    const recovery = await recoverPrimary(context, group, { since, topologyTable, signal });
    const isStuck =
      recovery !== undefined && recovery.appended === 0 && recovery.opened === 0 && recovery.closed.length > 0;
    pauseMs = isStuck ? Math.min(LONGEST_RECOVERY_PAUSE_MS, 2 * pauseMs) : PAUSE_MS;
    if (recovery && (recovery.opened > 0 || recovery.closed.length > 0)) recovered?.(group, recovery);
    return pauseMs;
  };
}
