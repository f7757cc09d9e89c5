import type { Role } from '../cell.ts';
import type { StoreContext } from '../access/context.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { requireDatastore, homeOf } from '../access/groups.ts';
import { repairEpoch } from '../access/raise-epoch.ts';
import type { Refusal } from '../access/ask-parts.ts';
import { findCut } from './cut-log.ts';
import type { ShardOffset } from './offsets.ts';
import type { Follower, FollowEvent } from './follower.ts';
import { giveCells } from './give-cells.ts';
import type { HeldPartition, Tenure } from './held-partition.ts';
import {
  type Suspicion,
  type SuspicionKind,
  type HeldShard,
  knownFor,
  withHead,
  afterFailure,
  elsewhere,
} from './held-shard.ts';
import type { PassEnd } from './pace.ts';
import { offsetAt, readLogEntries, type FetchLogEntries, type LogRead } from './read-log-entries.ts';
import { findStarts } from './start-offsets.ts';

export interface FollowWork {
  readonly follower: Follower;
  readonly context: StoreContext;
  readonly topologyTable: DynamoTable;
  readonly readOf: (group: string) => Role;
  /** How long this worker has known of a cell before it hands it out. */
  readonly behindMs: number;
  readonly pageCells: number;
  readonly fetch: FetchLogEntries;
  readonly now: () => number;
  readonly report: (event: FollowEvent) => void;
}

export interface ShardAtWork {
  readonly partition: HeldPartition;
  readonly held: HeldShard;
  readonly tenure: Tenure;
}

/** A hole that lasts longer is reported: a commit becomes visible within milliseconds. */
const HOLE_MS = 10_000;
/** More cells are expected for so long after a notification, or after wanted cells were handled. */
export const BUSY_MS = 300;
/** How long a node may lack the cell at the offset, or be behind the epoch, before the writer is asked. */
const SUSPICION_MS = 1000;
/** How long the writer is read after a reader was found wrong: one left behind is rebuilt in the meantime. */
const WRITER_MS = 5000;

/**
 * Reads one page of some shards of a group, gives it to the follower, and moves the offsets. Throws what reading or the
 * handler throw; the offsets then stay.
 */
export async function followShards(work: FollowWork, group: string, shards: readonly ShardAtWork[]): Promise<PassEnd> {
  const troubles = shards.map(({ held }) => held.trouble);
  await begin(work, group, shards);
  const begun = shards.flatMap((at) => (at.held.offset ? [{ at, shard: at.held.shard, offset: at.held.offset }] : []));
  if (begun.length === 0) return 'none';
  const now = work.now();
  const read = work.readOf(group);
  const byRole = Map.groupBy(begun, ({ at }): Role => (at.held.writerUntil > now ? 'writer' : read));
  const whole = (await Promise.all([...byRole].map(([role, some]) => readWhole(work, group, role, some)))).flat();
  const done = await giveCells(
    work.follower,
    group,
    whole.map(({ at, log }) => ({ shard: at.held.shard, generation: at.tenure.generation, entries: log.entries })),
  );
  for (const [item, { at, log }] of whole.entries()) {
    const { count = 0, given = at.held.offset?.given } = done[item] ?? {};
    const last = log.entries[count - 1];
    // Cells of other columns are not urgent: the slow poll passes over those that follow.
    if (done[item]?.given !== undefined) at.held.busyUntil = work.now() + BUSY_MS;
    if (isReadToEnd(log, count)) readToEnd(at, now);
    at.partition.move(
      at.held,
      {
        ...(last ? offsetAt(last, log.offset.epoch) : log.offset),
        ...(work.follower.columns && given !== undefined && { given }),
      },
      at.tenure,
    );
  }
  // Nothing new was found to be wrong with them.
  for (const [item, { held }] of shards.entries()) if (held.trouble === troubles[item]) held.trouble = undefined;
  const isYoung = ({ log }: WholeLog): boolean => work.behindMs > 0 && (log.head ?? 0) > log.offset.added_id;
  if (done.every(({ count }) => count === 0)) return whole.some(isYoung) ? 'some' : 'none';
  return whole.some(({ log }, item) => log.full && done[item]?.count === log.entries.length) ? 'full' : 'some';
}

/** Whether nothing is left: unhandled, too young, behind a hole, or on the next page. */
function isReadToEnd({ entries, offset, full, hole, head = 0 }: LogRead, done: number): boolean {
  const last = entries.at(-1)?.added_id ?? offset.added_id;
  return done === entries.length && !full && hole === undefined && head <= last;
}

function readToEnd({ partition, held, tenure }: ShardAtWork, begun: number): void {
  const { token, generation } = partition.tenure();
  // A shard that was rewound since must be read from there.
  if (held.suspicions.size === 0 && token === tenure.token && generation === tenure.generation) held.readAt = begun;
}

interface WholeLog {
  readonly at: ShardAtWork;
  readonly log: LogRead;
}

/** Reads shards from one role, and keeps the sound logs. */
async function readWhole(
  work: FollowWork,
  group: string,
  read: Role,
  shards: readonly { readonly at: ShardAtWork; readonly shard: number; readonly offset: ShardOffset }[],
): Promise<WholeLog[]> {
  const { follower, behindMs, fetch, pageCells: limit } = work;
  const from = { datastore: follower.datastore, limit, withHead: behindMs > 0, read, fetch };
  const { role, logs } = await readLogEntries(
    work.context,
    group,
    from,
    behindMs > 0 ? shards.map((one) => upToKnown(work, one)) : shards,
  );
  const whole: WholeLog[] = [];
  for (const [item, log] of logs.entries()) {
    const at = shards[item]?.at;
    if (!at) continue;
    if (log.refusal) refuse(work, at.held, log.refusal, role);
    if (log.state !== 'refused' && (await isSound(work, at, role, log)))
      whole.push({ at, log: behindMs > 0 ? onlyKnown(work, at.held, log) : log });
  }
  return whole;
}

/**
 * Limits a read to cells that have been known for long enough, but includes the cell at the offset, and the head with
 * it.
 */
function upToKnown<T extends { readonly at: ShardAtWork; readonly offset: ShardOffset }>(
  { behindMs, now }: FollowWork,
  one: T,
): T & { readonly to: number } {
  return { ...one, to: Math.max(1, one.offset.added_id, knownFor(one.at.held.heads, now(), behindMs)) };
}

/** Remembers the head, and leaves out cells that have not been known for long enough. */
function onlyKnown({ behindMs, now }: FollowWork, held: HeldShard, log: LogRead): LogRead {
  const known = knownFor(held.heads, now(), behindMs);
  if (log.head !== undefined) held.heads = withHead(held.heads, { added_id: log.head, at: now() }, behindMs);
  const entries = log.entries.filter(({ added_id }) => added_id <= known);
  return { ...log, entries, full: log.full && entries.length === log.entries.length };
}

/** From now on the shard is read alone until it can be read. */
function refuse(work: FollowWork, held: HeldShard, { error, isAnswered }: Refusal, role: Role): void {
  const now = work.now();
  if (isAnswered) {
    held.trouble = elsewhere(held.trouble, now);
    if (role === 'reader') held.writerUntil = now + WRITER_MS;
  } else fail(work, held, error);
}

/** Makes one shard wait for a while. */
export function fail({ now, report, context }: FollowWork, held: HeldShard, error: unknown): void {
  if (!held.trouble?.isTold) report({ kind: 'shard_failed', shard: held.shard, error });
  held.trouble = afterFailure(held.trouble, now());
  // The shard may have moved.
  context.topology.refresh();
}

/** Finds where shards without an offset begin. They are followed once that is written. */
async function begin(work: FollowWork, group: string, shards: readonly ShardAtWork[]): Promise<void> {
  const { context, follower } = work;
  const fresh = shards.filter(({ held }) => !held.offset);
  const unknown = fresh.filter(({ held }) => !held.start);
  if (unknown.length > 0) {
    const { found, refused } = await findStarts(
      context,
      group,
      follower.datastore,
      unknown.map(({ held }) => held.shard),
      follower.start,
    );
    for (const { partition, held, tenure } of unknown) {
      if (refused.has(held.shard)) fail(work, held, refused.get(held.shard));
      const start = found.get(held.shard);
      // Every worker finds the same start of a log, so it needs no commit first.
      if (start && follower.start === 'start') partition.move(held, beginAt(work, start), tenure);
      else if (start) partition.startAt(held, beginAt(work, start), tenure);
    }
  }
  for (const partition of new Set(fresh.flatMap(({ partition, held }) => (held.start ? [partition] : []))))
    partition.commit().catch(() => undefined);
}

/** Notes the last given cell only for a follower of some columns: for others that is the offset. */
function beginAt({ follower: { columns } }: FollowWork, start: ShardOffset): ShardOffset {
  return columns ? { ...start, given: start.added_id } : start;
}

/** Whether a read may be used. Handles logs that were cut, holes, and epochs that do not fit. */
async function isSound(work: FollowWork, at: ShardAtWork, role: Role, log: LogRead): Promise<boolean> {
  const { held } = at;
  const hole = lasts(work, held, 'hole', log.hole);
  if (hole && !hole.told && work.now() - hole.since >= HOLE_MS) {
    hole.told = true;
    work.report({
      kind: 'hole',
      shard: held.shard,
      added_id: hole.at,
      seconds: Math.round((work.now() - hole.since) / 1000),
    });
  }
  try {
    const gone = lasts(work, held, 'gone', log.state === 'whole' ? undefined : log.offset.added_id);
    // Another cell is a reason to ask the writer at once, a missing one only after a while: readers lag.
    if (gone && isDue(work, gone, log.state === 'other')) await goBack(work, at, role, log.offset);
    return (
      log.state === 'whole' && (log.offset.added_id + log.entries.length === 0 || (await fitsEpoch(work, at, log)))
    );
  } catch (error) {
    work.report({ kind: 'shard_failed', shard: held.shard, error });
    return false;
  }
}

async function goBack(
  work: FollowWork,
  { partition, held, tenure }: ShardAtWork,
  role: Role,
  offset: ShardOffset,
): Promise<void> {
  const { shard, checkpoints } = held;
  const back = await findCut(work.context, work.topologyTable, {
    datastore: work.follower.datastore,
    shard,
    offset,
    checkpoints,
  });
  if (back) {
    if (await partition.goBack(held, back, tenure))
      work.report({ kind: 'cut', shard, offset: offset.added_id, back_to: back.added_id, epoch: back.epoch });
  } else if (role === 'reader') {
    held.writerUntil = work.now() + WRITER_MS;
    work.report({ kind: 'reader_differs', shard, added_id: offset.added_id });
  }
}

/**
 * A group without the shard's row does not own it any more; a row behind the topology refuses writes until it is
 * raised.
 */
async function fitsEpoch(work: FollowWork, { held }: ShardAtWork, { epoch }: LogRead): Promise<boolean> {
  const { context, follower } = work;
  const home = homeOf(await requireDatastore(context.topology, follower.datastore), held.shard);
  const odd = lasts(work, held, 'epoch', epoch === home.epoch ? undefined : (epoch ?? -1));
  if (!odd) return true;
  if (!odd.told) context.topology.refresh();
  odd.told = true;
  if (isDue(work, odd, false)) {
    odd.told = false;
    if (
      epoch !== undefined &&
      epoch < home.epoch &&
      (await repairEpoch({ groups: context.groups, datastore: follower.datastore, shard: held.shard }, home))
    ) {
      work.report({ kind: 'epoch_repaired', shard: held.shard, epoch: home.epoch });
    }
  }
  return epoch !== undefined;
}

/** Returns the suspicion about the same thing since it began, and forgets one that has passed. */
function lasts(
  { now }: FollowWork,
  held: HeldShard,
  what: SuspicionKind,
  at: number | undefined,
): Suspicion | undefined {
  const known = held.suspicions.get(what);
  if (at === undefined) {
    if (known) held.suspicions.delete(what);
    return undefined;
  }
  if (known?.at === at) return known;
  const suspicion = { at, since: now(), told: false };
  held.suspicions.set(what, suspicion);
  return suspicion;
}

/** Whether a suspicion has lasted, again each time that it has; with `atOnce` also when it first arises. */
function isDue({ now }: FollowWork, suspicion: Suspicion, atOnce: boolean): boolean {
  const first = atOnce && !suspicion.told;
  if (!first && now() - suspicion.since < SUSPICION_MS) return false;
  if (atOnce) suspicion.told = true;
  suspicion.since = now();
  return true;
}
