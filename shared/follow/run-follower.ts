import type { Role } from '../cell.ts';
import type { StoreContext } from '../access/context.ts';
import { requireDatastore } from '../access/groups.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { BellTower } from './bells.ts';
import { followGroup } from './follow-group.ts';
import type { FollowWork } from './follow-shards.ts';
import type { Follower, FollowEvent } from './follower.ts';
import { openFollower, readFollower } from './follower-item.ts';
import { openHoldings, type Holdings } from './holdings.ts';
import { offsetItems } from './offset-items.ts';
import { pauseFor } from '../pause-for.ts';
import type { Pauses } from './pace.ts';
import type { ReaderWatch } from './reader-watch.ts';
import { fetchLogEntries, type FetchLogEntries } from './read-log-entries.ts';
import { joinWorkers, type Workers, type WorkersOptions } from './workers.ts';

export interface FollowerRun {
  readonly follower: Follower;
  readonly context: StoreContext;
  readonly stateTable: DynamoTable;
  readonly topologyTable: DynamoTable;
  readonly owner: string;
  /** When to end, by `Date.now()`, whatever comes: short of the function's own time limit. */
  readonly deadline: number;
  /** Ends the run earlier, in the same orderly way. */
  readonly signal?: AbortSignal;
  /**
   * Which of the workers wished for this is: the next run of the same slot takes over from it. @default its own: nobody
   * takes over
   */
  readonly slot?: string;
  /**
   * Shares one announcement among several followers of a function; whoever joined also leaves. @default joins a crew of
   * its own
   */
  readonly workers?: Workers;
  /** Of a follower that has not run before; later ones keep to it. @default by `defaultPartitions` */
  readonly partitions?: number;
  /** Which node is read; the other one when it is away. */
  readonly read: Role;
  /** Says where readers stand still, so that the writer is read in their place. @default nobody looks */
  readonly readers?: ReaderWatch | undefined;
  /** Hands out cells only once this worker has known them for so long, by its own clock. @default 0 */
  readonly behindMs?: number;
  /** Of each shard at a time. @default 100 */
  readonly pageCells?: number;
  readonly pauses?: Pauses;
  /** Where it is heard which shards have new cells. @default all are looked at, again and again */
  readonly bells?: BellTower;
  /** Lets followers share statements: see `shareFetches`. @default statements of its own */
  readonly fetch?: FetchLogEntries;
  /**
   * How long offsets that moved may stay unwritten: what a crash lets happen twice. Each partition is an item of its
   * own. @default 500
   */
  readonly commitEveryMs?: number;
  /** Of the workers' announcements. @default those of `joinWorkers` */
  readonly heartbeat?: Pick<WorkersOptions, 'heartbeatMs' | 'silenceMs'>;
  /** Milliseconds that only go forward. @default those of this process */
  readonly now?: () => number;
  readonly report?: (event: FollowEvent) => void;
}

/** How often it is looked at who holds what; cheap while nothing changes hands. */
const ALIGN_EVERY_MS = 200;
/** While partitions are to be taken that others have not released yet. */
const TAKE_EVERY_MS = 100;
/**
 * While partitions change hands: until a page under way has ended, so that its partition can go, or for the next one
 * that came free.
 */
const MOVE_EVERY_MS = 20;
/** How often a rewind is looked for. */
const CHANGES_EVERY_MS = 2000;
/** How often it is looked at whose offsets are to be written. */
const COMMIT_STEP_MS = 100;
/** Checkpoints of each partition are written rarely: their items are large, and older ones only lead further back. */
const CHECKPOINTS_EVERY_MS = 30_000;
/** How long a page under way, or a table that is away, may hold up the end. */
const PATIENCE_MS = 10_000;

/**
 * Follows the logs of a datastore with whoever else runs the same follower, until the deadline, the signal, until a
 * successor of the same slot holds everything that this one held, or until the follower is forgotten. Ends in order:
 * the page under way is finished, the offsets are written, the partitions are free at once.
 *
 * While DynamoDB is away the worker goes on with the partitions it holds, its offsets in memory.
 *
 * @throws what the topology and DynamoDB throw, before anything was begun
 */
export async function runFollower(run: FollowerRun): Promise<void> {
  const { follower, stateTable, now = () => performance.now() } = run;
  const report = run.report ?? (() => undefined);
  const { shards } = await requireDatastore(run.context.topology, follower.datastore);
  run.readers?.follow(follower.datastore);
  const agreed = await openFollower(stateTable, follower, shards, run.partitions);
  const { partitions } = agreed;
  const workers =
    run.workers ??
    joinWorkers({
      ...run.heartbeat,
      stateTable,
      crew: `${follower.name}#${follower.datastore}`,
      owner: run.owner,
      now,
      ...(run.slot === undefined ? {} : { slot: run.slot }),
    });
  const items = offsetItems(stateTable, { name: follower.name, datastore: follower.datastore, shards, partitions });
  const holdings = openHoldings({ items, workers, partitions, patienceMs: PATIENCE_MS, now, report });
  const { behindMs = 0, pageCells = 100, fetch = fetchLogEntries } = run;
  const work: FollowWork = {
    follower,
    context: run.context,
    topologyTable: run.topologyTable,
    readOf: (group) => (run.read === 'reader' && run.readers ? run.readers.roleOf(group) : run.read),
    behindMs,
    pageCells,
    fetch,
    now,
    report,
  };

  const end = new AbortController();
  const state = { ...run, now, report, workers, holdings, partitions, signal: end.signal };
  const groups = followGroups(work, state);
  const keeping = keepOffsets(state, agreed.changes);
  const stopEarly = (): void => end.abort();
  run.signal?.addEventListener('abort', stopEarly);
  try {
    if (run.signal?.aborted) stopEarly();
    await holdShare(state);
  } finally {
    run.signal?.removeEventListener('abort', stopEarly);
    end.abort();
    await keeping;
    await withinPatience(letGo(state));
    await withinPatience(groups);
    if (!run.workers) await withinPatience(workers.leave().catch(() => undefined));
  }
}

interface RunState extends FollowerRun {
  readonly now: () => number;
  readonly report: (event: FollowEvent) => void;
  readonly workers: Workers;
  readonly holdings: Holdings;
  readonly partitions: number;
  readonly signal: AbortSignal;
}

/** Keeps what is held in line with the share, until it is time to end. */
async function holdShare({
  deadline,
  signal,
  workers,
  holdings,
  partitions,
  follower,
  ...state
}: RunState): Promise<void> {
  const failed = failures(state.report);
  while (!signal.aborted && Date.now() < deadline) {
    const before = holdings.count();
    const aligned = await failed(async () => {
      // What is taken from whom is decided on the latest view.
      if (holdings.moves().taking) await workers.look();
      await holdings.align();
    });
    // Before it is announced a worker has no share, and holds all of nothing: its predecessor must not take that for
    // ready.
    const { taking, releasing } = holdings.moves();
    workers.ready(`${follower.name}#${follower.datastore}`, workers.lives() > 0 && !taking);
    if (holdings.isForgotten() || (workers.share(partitions).successor?.ready && holdings.count() === 0)) return;
    const isMoving = releasing || (taking && holdings.count() > before);
    const pause = aligned && isMoving ? MOVE_EVERY_MS : taking ? TAKE_EVERY_MS : ALIGN_EVERY_MS;
    await pauseFor(Math.min(pause, Math.max(0, deadline - Date.now())), signal);
  }
}

/** A loop for each group that the topology names, as they come. */
async function followGroups(
  work: FollowWork,
  { holdings, context, follower, pauses = {}, bells, signal }: RunState,
): Promise<void> {
  const loops = new Map<string, Promise<void>>();
  while (!signal.aborted) {
    const topology = await requireDatastore(context.topology, follower.datastore).catch(() => undefined);
    for (const { group } of topology?.homes ?? []) {
      if (!loops.has(group))
        loops.set(group, followGroup(work, group, holdings, { pauses, ...(bells && { bells }) }, signal));
    }
    await pauseFor(ALIGN_EVERY_MS, signal);
  }
  await Promise.all(loops.values());
}

/** Writes what moved, and looks for rewinds and for having been taken for dead. */
async function keepOffsets(
  { stateTable, follower, holdings, workers, now, report, signal, commitEveryMs = 500 }: RunState,
  known: number,
): Promise<void> {
  const failed = failures(report);
  const pauseMs = Math.min(commitEveryMs, COMMIT_STEP_MS);
  const seen = { changes: known, lives: workers.lives(), at: now(), saved: now() };
  while (!signal.aborted) {
    await failed(async () => {
      await holdings.commit(commitEveryMs - pauseMs);
      const turns = Math.floor(((now() - seen.saved) / CHECKPOINTS_EVERY_MS) * holdings.count());
      if (turns > 0) {
        await holdings.saveCheckpoints(turns);
        seen.saved = now();
      }
      if (now() - seen.at < CHANGES_EVERY_MS) return;
      const lives = workers.lives();
      // None when the follower was forgotten, which its partitions will show.
      const changes = (await readFollower(stateTable, follower))?.changes ?? -1;
      if (changes !== seen.changes || lives !== seen.lives) await holdings.reload();
      Object.assign(seen, { changes, lives, at: now() });
    });
    await pauseFor(pauseMs, signal);
  }
}

/** Releases everything; a table that is away is tried again until patience ends. */
async function letGo({ holdings, report, now }: RunState): Promise<void> {
  const failed = failures(report);
  const since = now();
  do {
    await failed(() => holdings.releaseAll(() => pauseFor(MOVE_EVERY_MS, new AbortController().signal)));
    if (holdings.count() > 0) await pauseFor(ALIGN_EVERY_MS, new AbortController().signal);
  } while (holdings.count() > 0 && now() - since < PATIENCE_MS);
}

/** Runs a step that needs the state table, and returns whether it ended well; tells the first of a row of failures. */
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
