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
  /** When to end, by `Date.now()`, whatever comes: short of the function's own time limit. */
  readonly deadline: number;
  readonly settings?: DrainSettings;
  /** As in `RecoveryOptions`. */
  readonly topologyTable?: DynamoTable;
  /** Where the run before this one stood, and where this one leaves it. @default each run begins at the first rows */
  readonly progress?: ProgressStore;
  readonly report: (group: string, report: DrainReport) => void;
  /** A group's new writer lacked cells: what was brought back, and what is still closed. */
  readonly recovered?: (group: string, recovery: Recovery) => void;
  /** What waits in a group's buffer table, every half minute; the age by the clock of the drain. */
  readonly measured?: (group: string, status: BufferStatus) => void;
}

/** How often a lease is renewed, and looked at for a successor. A fifth of its duration. */
const RENEW_MS = 2000;
/** How long a holder may be silent before its lease is taken. */
export const LEASE_MS = 10_000;
const TAKE_PAUSE_MS = 500;
/** Between figures of how much waits, and since when: an alarm on them needs no finer ones. */
const MEASURE_MS = 30_000;
/** While rows are left behind: what a run that dies hard takes with it. */
const KEEP_MS = 10_000;

/**
 * Drains the buffer tables of all groups side by side, each under its lease, until a successor has taken over each of
 * them, or the deadline. Started every minute, so that there is never a gap: the successor waits for the hand-over.
 */
export async function runDrain(run: DrainRun): Promise<void> {
  const groups = await run.context.groups.names();
  // With one group there is nobody to buffer for.
  if (groups.length < 2) return;
  await Promise.all(groups.map((group) => drainGroup(run, group)));
}

/** One group's drain under its lease. */
interface HeldDrain {
  readonly run: DrainRun;
  readonly group: string;
  readonly drain: HolderDrain;
  readonly lease: Lease;
  /** Comes once the lease is lost or wanted, the time is up, or one part died of an error of our own. */
  readonly signal: AbortSignal;
  readonly end: () => void;
}

async function drainGroup(run: DrainRun, group: string): Promise<void> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const deadline = setTimeout(end, Math.max(0, run.deadline - Date.now()));
  try {
    // A table that cannot be reached ends nothing: the other groups' runs go on, and this one tries again.
    const leased = {
      leases: run.leases,
      name: `drain/${group}`,
      renewMs: RENEW_MS,
      takeEveryMs: TAKE_PAUSE_MS,
      isPatient: true,
      signal: ending.signal,
    };
    await underLease(leased, async (signal, lease) => {
      // A table that cannot be reached holds nobody up: then this begins at the first rows.
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
  // The first that dies of an error of our own ends the others.
  for (const work of working) work.catch(end);
  await Promise.allSettled(working);
  await run.progress?.write(group, lease, drain.progress()).catch(() => undefined);
  await Promise.all(working);
}

/**
 * Does something again and again, after the pause that it asks for. A group that cannot be reached is reported, and
 * tried again.
 */
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

/**
 * Between two turns of a lane that is done with what was due. Shards become due one by one: with a turn for each five of
 * them their looks and deletions took a third of the servers' time for 350 puts a second, commits aside; now a sixth.
 */
const LANE_REST_MS = 500;

/** Looks what waits, and lets each primary's lane go at its own pace. */
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

/** What lies before the first look of a run, and behind its last, does not count for copies that are kept. */
const FORGET_MS = 10_000;

/** Between looks for drained copies that were kept for long enough. */
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

/** Between two attempts to open shards of which none did any good: each reads all that waits for them. */
const LONGEST_RECOVERY_PAUSE_MS = 8000;

/**
 * Lets the group's shards take appends again after another of its servers became the writer. Gives the pause before the
 * next look.
 */
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
