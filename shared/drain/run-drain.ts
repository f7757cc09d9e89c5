import { SchemalessError } from '../errors.ts';
import { runJob, type HeldJob, type JobRun } from '../dynamo/run-job.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { groupsInSlot, type RunSlot } from '../loops-at-once.ts';
import type { Turns } from '../repeat.ts';
import { SqlError } from '../sql/client.ts';
import { selectBufferStatus, toBufferStatus, type BufferStatus } from '../sql/statements/select-buffer-status.ts';
import type { StoreContext } from '../access/context.ts';
import { openHintDrain, type HintDrain } from './hint-drain.ts';
import { laneTurn, type Lane, type DrainReport, type DrainSettings } from './drain-lane.ts';
import type { ProgressStore } from './progress-item.ts';
import { recoverPrimary, type Recovery } from './recover-primary.ts';
import { releaseOpened } from './fenced-shards.ts';
import { PAUSE_MS } from './turns.ts';
import { inDoubtSince } from './bring-back-shard.ts';

interface DrainRun extends JobRun, RunSlot {
  readonly context: StoreContext;
  readonly settings?: DrainSettings;
  readonly topologyTable?: DynamoTable;
  /** Loads the position of the previous run, and saves this one's. @default each run begins at the first rows */
  readonly progress?: ProgressStore;
  readonly report: (group: string, report: DrainReport) => void;
  readonly recovered?: (group: string, recovery: Recovery) => void;
  /** Called every half minute with what waits in a group's buffer table. */
  readonly measured?: (group: string, status: BufferStatus) => void;
}

export const LEASE_MS = 10_000;
const MEASURE_MS = 30_000;

/**
 * Drains the buffer tables of this slot's groups under their leases, until a successor takes over or the deadline. After
 * a change of groups or slots, a lease moves to the group's new slot with that slot's next run.
 */
export async function runDrain(run: DrainRun): Promise<void> {
  const groups = await run.context.groups.names();
  if (groups.length < 2) return;
  await Promise.all(groupsInSlot(groups, run).map((group) => drainGroup(run, group)));
}

interface HeldDrain {
  readonly run: DrainRun;
  readonly group: string;
  readonly drain: HintDrain;
  readonly held: HeldJob;
}

async function drainGroup(run: DrainRun, group: string): Promise<void> {
  let drain: HintDrain | undefined;
  await runJob(run, {
    lease: `drain/${group}`,
    async begin(held) {
      // Without the table this run begins at the first rows.
      const progress = await run.progress?.read(group).catch(() => undefined);
      drain = await openHintDrain(run.context, group, run.settings, progress);
      beginDrain({ run, group, drain, held });
    },
    async save(lease, isEnd) {
      const progress = drain?.progress();
      // Nothing waits, as a rule: that is written once.
      const report = isEnd ? drain?.report() : undefined;
      if (report && report.seen > 0) run.report(group, report);
      if (progress && (isEnd || Object.keys(progress.places).length > 0))
        await run.progress?.write(group, lease, progress);
    },
  });
}

function beginDrain(of: HeldDrain): void {
  const { run, group, drain, held } = of;
  const work = (name: string, turn: Turns['turn'], kind: Failing = 'secondary_failed'): void =>
    held.work(name, turnsOf(of, turn, kind));
  work('recover', openRecovering(of), 'primary_failed');
  work('release', async () => (await releaseOpened(run.context, group), RELEASE_MS));
  work('measure', async () => (await measure(of), MEASURE_MS));
  work('forget', async () => (await drain.forgetDrained(held.signal), forgetMs(run.settings)));
  work('watch', watching(of));
}

/** Poll interval for hints in doubt whose shards take appends again. */
const RELEASE_MS = 5000;

type Failing = 'primary_failed' | 'secondary_failed';

/** Work on a group that is reported and tried again where the group cannot be reached, and ends the run at a bug. */
function turnsOf({ run, group }: HeldDrain, turn: Turns['turn'], kind: Failing): Turns {
  return {
    turn,
    everyMs: PAUSE_MS,
    failed(error) {
      if (!(error instanceof SqlError) && !(error instanceof SchemalessError)) throw error;
      run.context.report({ kind, group, error });
    },
  };
}

/** Least time between turns of an idle lane: at 350 puts a second shorter ones doubled the servers' work. */
const LANE_REST_MS = 500;

function watching(of: HeldDrain): () => Promise<number> {
  const { run, group, drain, held } = of;
  const pauseAfter = pollPauses();
  const laneOf = new Map<Lane, string>();
  return async () => {
    const since = performance.now();
    await drain.watch();
    const took = performance.now() - since;
    for (const lane of drain.lanes.values()) {
      if (laneOf.has(lane)) continue;
      const name = `lane ${laneOf.size}`;
      laneOf.set(lane, name);
      const turn = async (): Promise<number> => {
        const waitMs = await laneTurn(lane);
        return waitMs <= 0 ? 0 : Math.max(LANE_REST_MS, waitMs);
      };
      held.work(name, turnsOf(of, turn, 'secondary_failed'));
    }
    const report = drain.report();
    if (report.seen > 0) run.report(group, report);
    return pauseAfter(took, drain.oldest() === null);
  };
}

/** The ends of a run do not count for kept hints, so polls are frequent. */
const FORGET_MS = 10_000;

function forgetMs({ keepCopiesSeconds = 0 }: DrainSettings = {}): number {
  return keepCopiesSeconds === 0 ? MEASURE_MS : Math.min(FORGET_MS, Math.max(PAUSE_MS, keepCopiesSeconds * 100));
}

async function measure({ run, group, drain }: HeldDrain): Promise<void> {
  if (!run.measured) return;
  const client = await run.context.groups.client(group);
  const status = toBufferStatus(await client.select(selectBufferStatus(), 'writer'));
  const oldest = drain.oldest();
  run.measured(group, { ...status, oldest_age: oldest === null ? null : oldest / 1000 });
}

/** Poll interval for shards of a new writer, which take no appends until then. */
const RECOVER_MS = 2000;
/** Longest pause between recoveries that did no good: each reads all that waits. */
const LONGEST_RECOVERY_PAUSE_MS = 8000;

/** Opens the group's shards after another server became the writer. Returns the pause before the next poll. */
function openRecovering({
  run: { context, topologyTable, recovered },
  group,
  held: { signal },
}: HeldDrain): () => Promise<number> {
  const since = inDoubtSince();
  let pauseMs = RECOVER_MS;
  return async () => {
    const recovery = await recoverPrimary(context, group, { since, topologyTable, signal });
    const isStuck =
      recovery !== undefined && recovery.appended === 0 && recovery.opened === 0 && recovery.closed.length > 0;
    pauseMs = isStuck ? Math.min(LONGEST_RECOVERY_PAUSE_MS, 2 * pauseMs) : RECOVER_MS;
    if (recovery && (recovery.opened > 0 || recovery.closed.length > 0)) recovered?.(group, recovery);
    return pauseMs;
  };
}

const SHORTEST_MS = 1000;
/** Longest pause while nothing waits. */
const IDLE_MS = 4000;
/** Pause per time of a poll, so that polls take a twentieth of the time. */
const SHARE = 20;

/** Returns the pause after each poll, by the shorter of the last two: one long poll is no evidence. */
export function pollPauses(): (tookMs: number, isIdle?: boolean) => number {
  let before = 0;
  let shortest = SHORTEST_MS;
  return (tookMs, isIdle = false) => {
    const usual = Math.min(before, tookMs);
    before = tookMs;
    shortest = isIdle ? Math.min(IDLE_MS, 2 * shortest) : SHORTEST_MS;
    return Math.max(shortest, SHARE * usual);
  };
}
