import type { Role } from '../cell.ts';
import type { StoreContext } from '../access/context.ts';
import { requireDatastore } from '../access/groups.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { Notifiers } from './notifications.ts';
import { followGroup } from './follow-group.ts';
import type { FollowWork } from './follow-shards.ts';
import type { Follower, FollowEvent } from './follower.ts';
import { openFollower, readFollower } from './follower-item.ts';
import { AssignedPartitions } from './assigned-partitions.ts';
import { OffsetItems } from './offset-items.ts';
import { ofFirst, repeat } from '../repeat.ts';
import { pauseFor } from '../pause-for.ts';
import type { Pauses } from './pace.ts';
import type { ReaderWatch } from './reader-watch.ts';
import { fetchLogEntries, type FetchLogEntries } from './read-log-entries.ts';
import { untilEnd } from '../until-end.ts';
import type { Workers } from './workers.ts';

export interface FollowerRun {
  readonly follower: Follower;
  readonly context: StoreContext;
  readonly stateTable: DynamoTable;
  readonly topologyTable: DynamoTable;
  /** When to end, by `Date.now()`: before the function's own time limit. */
  readonly deadline: number;
  readonly signal: AbortSignal;
  /** The announcement of this worker, shared by the followers of a function. */
  readonly workers: Workers;
  /** Of a new follower; later runs keep to it. @default by `defaultPartitions` */
  readonly partitions?: number;
  /** The role that is read; the other one if it is unavailable. */
  readonly read: Role;
  /** Has the writer read where readers stand still. */
  readonly readers?: ReaderWatch | undefined;
  /** How long this worker has known of a cell before it hands it out. @default 0 */
  readonly behindMs?: number;
  /** For each shard. @default 100 */
  readonly pageCells?: number;
  readonly pauses?: Pauses;
  /** @default all shards are polled with each pass */
  readonly notifications?: Notifiers;
  /** Lets followers share statements: see `shareFetches`. */
  readonly fetch?: FetchLogEntries;
  /** How long offsets that moved may stay unwritten: a crash repeats that much. @default 500 */
  readonly commitEveryMs?: number;
  readonly now?: () => number;
  readonly report?: (event: FollowEvent) => void;
}

/** Between comparisons of what is held and what should be. */
const ALIGN_EVERY_MS = 500;
/** While other workers still hold partitions to be taken. */
const TAKE_EVERY_MS = 200;
/** While partitions change hands. */
const MOVE_EVERY_MS = 20;
/** Least time between checks for rewinds, which a commit notices as well. */
const CHANGES_EVERY_MS = 2000;
/** Between checks for offsets to be written. */
const COMMIT_STEP_MS = 100;
/** Checkpoints are written rarely: their items are large, and older ones only lead further back. */
const CHECKPOINTS_EVERY_MS = 30_000;
/** How long a page under way, or DynamoDB, may delay the end. */
const PATIENCE_MS = 10_000;

/**
 * Follows the logs of a datastore, with other workers of the same follower. Ends with the deadline, the signal, once a
 * successor of its slot holds everything, or once the follower is forgotten. Before that it finishes the current page,
 * writes the offsets, and frees its partitions.
 *
 * While DynamoDB is unavailable it continues with the partitions it holds, its offsets in memory.
 *
 * @throws what the topology and DynamoDB throw, before anything began
 */
export async function runFollower(run: FollowerRun): Promise<void> {
  const { follower, stateTable, now = () => performance.now() } = run;
  const report = run.report ?? (() => undefined);
  const { shards } = await requireDatastore(run.context.topology, follower.datastore);
  run.readers?.follow(follower.datastore);
  const agreed = await openFollower(stateTable, follower, shards, run.partitions);
  const { partitions } = agreed;
  const { workers } = run;
  const items = new OffsetItems(stateTable, { name: follower.name, datastore: follower.datastore, shards, partitions });
  const assigned = new AssignedPartitions({ items, workers, partitions, patienceMs: PATIENCE_MS, now, report });
  const work: FollowWork = {
    behindMs: 0,
    pageCells: 100,
    fetch: fetchLogEntries,
    ...run,
    readOf: (group) => (run.read === 'reader' && run.readers ? run.readers.roleOf(group) : run.read),
    now,
    report,
  };

  const { signal, end } = untilEnd(run.signal);
  const state = { ...run, now, report, assigned, partitions, signal };
  const groups = followGroups(work, state);
  const keeping = keepOffsets(state, agreed.changes);
  try {
    await alignAssignment(state);
  } finally {
    end();
    await keeping;
    await withinPatience(letGo(state));
    await withinPatience(groups);
  }
}

interface RunState extends FollowerRun {
  readonly now: () => number;
  readonly report: (event: FollowEvent) => void;
  readonly assigned: AssignedPartitions;
  readonly partitions: number;
}

/** Keeps what is held in line with the share. */
async function alignAssignment({
  deadline,
  signal,
  workers,
  assigned,
  partitions,
  follower,
  ...state
}: RunState): Promise<void> {
  const failed = failures(state.report);
  while (!signal.aborted && Date.now() < deadline) {
    const before = assigned.count();
    const aligned = await failed(async () => {
      // The latest view decides what is taken from which worker.
      if (assigned.moves().taking) await workers.poll();
      await assigned.align();
    });
    // Before it is announced a worker holds all of an empty share: its predecessor must not see that as ready.
    const { taking, releasing } = assigned.moves();
    workers.ready(`${follower.name}#${follower.datastore}`, workers.lives() > 0 && !taking);
    if (assigned.isForgotten() || (workers.assignment(partitions).successor?.ready && assigned.count() === 0)) return;
    const isMoving = releasing || (taking && assigned.count() > before);
    const pause = aligned && isMoving ? MOVE_EVERY_MS : taking ? TAKE_EVERY_MS : ALIGN_EVERY_MS;
    await pauseFor(Math.min(pause, Math.max(0, deadline - Date.now())), signal);
  }
}

/** Runs a loop for each group that the topology names. */
async function followGroups(
  work: FollowWork,
  { assigned, context, follower, signal, ...pace }: RunState,
): Promise<void> {
  const loops = new Map<string, Promise<void>>();
  while (!signal.aborted) {
    const topology = await requireDatastore(context.topology, follower.datastore).catch(() => undefined);
    for (const { group } of topology?.homes ?? []) {
      if (!loops.has(group)) loops.set(group, followGroup(work, group, assigned, pace, signal));
    }
    await pauseFor(ALIGN_EVERY_MS, signal);
  }
  await Promise.all(loops.values());
}

/** Writes what moved, and checks for rewinds and for having been taken for dead. */
async function keepOffsets(
  { stateTable, follower, assigned, workers, now, report, signal, commitEveryMs = 500 }: RunState,
  known: number,
): Promise<void> {
  const everyMs = Math.min(commitEveryMs, COMMIT_STEP_MS);
  const changesEveryMs = Math.max(CHANGES_EVERY_MS, commitEveryMs);
  const seen = { changes: known, lives: Math.max(1, workers.lives()), at: now(), saved: now() };
  const poll = async (): Promise<void> => {
    await assigned.commit(commitEveryMs - everyMs);
    const turns = Math.floor(((now() - seen.saved) / CHECKPOINTS_EVERY_MS) * assigned.count());
    if (turns > 0) {
      await assigned.saveCheckpoints(turns);
      seen.saved = now();
    }
    const lives = Math.max(1, workers.lives());
    if (now() - seen.at < changesEveryMs && lives === seen.lives) return;
    // No item means that the follower was forgotten, which its partitions will show.
    const changes = (await readFollower(stateTable, follower))?.changes ?? -1;
    if (changes !== seen.changes || lives !== seen.lives) await assigned.reload();
    Object.assign(seen, { changes, lives, at: now() });
  };
  const failed = ofFirst((error) => report({ kind: 'state_failed', error }));
  await repeat({ turn: poll, everyMs, failed }, signal);
}

/** Releases everything, and retries until patience ends. */
async function letGo({ assigned, report, now }: RunState): Promise<void> {
  const failed = failures(report);
  const since = now();
  do {
    await failed(() => assigned.releaseAll(() => pauseFor(MOVE_EVERY_MS, new AbortController().signal)));
    if (assigned.count() > 0) await pauseFor(ALIGN_EVERY_MS, new AbortController().signal);
  } while (assigned.count() > 0 && now() - since < PATIENCE_MS);
}

/**
 * Runs a step that needs the state table, returns whether it succeeded, and reports the first of consecutive failures.
 */
function failures(report: (event: FollowEvent) => void): (step: () => Promise<void>) => Promise<boolean> {
  let failing = false;
  return async (step) => {
    try {
      await step();
      failing = false;
    } catch (error) {
      if (!failing) report({ kind: 'state_failed', error });
      failing = true;
    }
    return !failing;
  };
}

async function withinPatience(task: Promise<unknown>): Promise<void> {
  const patience = new AbortController();
  await Promise.race([task, pauseFor(PATIENCE_MS, patience.signal)]);
  patience.abort();
}
