import type { Role } from '../cell.ts';
import { groupBy, placeOf, type StoreContext } from '../store/context.ts';
import type { DynamoTable } from '../topology/dynamo-topology.ts';
import { requireDatastore } from '../topology/groups.ts';
import { mendEpoch } from '../topology/raise-epoch.ts';
import { findCut } from './cut-log.ts';
import type { ShardOffset } from './encode-offsets.ts';
import type { Follower, FollowEvent } from './follower.ts';
import { giveCells } from './give-cells.ts';
import type { Doubt, DoubtKind, HeldPartition, HeldShard, Tenure } from './held-partition.ts';
import type { PassEnd } from './pace.ts';
import { offsetAt, readPlaces, type FetchPlaces, type LogRead } from './read-places.ts';
import { startOffsets } from './start-offsets.ts';

export interface FollowWork {
  readonly follower: Follower;
  readonly context: StoreContext;
  readonly topologyTable: DynamoTable;
  readonly read: Role;
  readonly behindMs: number;
  /** Of each shard, at a time. */
  readonly pageCells: number;
  readonly fingerprints: boolean;
  readonly fetch: FetchPlaces;
  readonly now: () => number;
  readonly report: (event: FollowEvent) => void;
}

/** A shard to be worked on, with what the work is done under. */
export interface ShardAtWork {
  readonly partition: HeldPartition;
  readonly held: HeldShard;
  readonly tenure: Tenure;
}

/** A hole that lasts longer is told: a commit becomes visible within milliseconds. */
const HOLE_MS = 10_000;
/** How long a cell at the offset, or an epoch, may be behind on a node before the writer is asked about it. */
const DOUBT_MS = 1000;
/** How long a shard is read from the writer once a reader was found wrong: one left behind is rebuilt in the meantime. */
const WRITER_MS = 5000;

/**
 * One page of some shards of one group: reads what follows their offsets, gives it to the follower, moves the offsets.
 *
 * @returns what came of it
 * @throws what reading or the handler throw; the offsets then stay
 */
export async function followShards(work: FollowWork, group: string, shards: readonly ShardAtWork[]): Promise<PassEnd> {
  await begin(work, group, shards);
  const begun = shards.flatMap((at) => (at.held.offset ? [{ at, shard: at.held.shard, offset: at.held.offset }] : []));
  if (begun.length === 0) return 'none';
  const now = work.now();
  const byRole = groupBy(begun, ({ at }): Role => (at.held.writerUntil > now ? 'writer' : work.read));
  const whole = (await Promise.all([...byRole].map(([read, some]) => readWhole(work, group, read, some)))).flat();
  const done = await giveCells(work.follower, group, whole.map(({ at, log }) => ({ shard: at.held.shard, generation: at.tenure.generation, places: log.places })));
  for (const [item, { at, log }] of whole.entries()) {
    const last = log.places[(done[item] ?? 0) - 1];
    at.partition.move(at.held, last ? offsetAt(last, log.offset.epoch) : log.offset, at.tenure);
  }
  if (done.every((count) => count === 0)) return 'none';
  return whole.some(({ log }, item) => log.full && done[item] === log.places.length) ? 'full' : 'some';
}

interface WholeLog {
  readonly at: ShardAtWork;
  readonly log: LogRead;
}

/** Reads shards from one role, and keeps those whose logs may be used. */
async function readWhole(work: FollowWork, group: string, read: Role, shards: readonly { readonly at: ShardAtWork; readonly shard: number; readonly offset: ShardOffset }[]): Promise<WholeLog[]> {
  const { follower, behindMs, fingerprints, fetch, pageCells: limit } = work;
  const { role, logs } = await readPlaces(work.context, group, { datastore: follower.datastore, limit, behindMs, read, fingerprints, fetch }, shards);
  const whole: WholeLog[] = [];
  for (const [item, log] of logs.entries()) {
    const at = shards[item]?.at;
    if (at && log.state !== 'quiet' && (await isSound(work, at, role, log))) whole.push({ at, log });
  }
  return whole;
}

/** Finds where to begin with shards that have no offset yet. */
async function begin({ context, follower }: FollowWork, group: string, shards: readonly ShardAtWork[]): Promise<void> {
  const fresh = shards.filter(({ held }) => !held.offset);
  if (fresh.length === 0) return;
  const found = await startOffsets(context, group, follower.datastore, fresh.map(({ held }) => held.shard), follower.start);
  for (const { partition, held, tenure } of fresh) {
    const offset = found.get(held.shard);
    if (offset) partition.move(held, offset, tenure);
  }
}

/** Whether what was read may be used. Looks after logs that were cut, holes, and epochs that do not fit. */
async function isSound(work: FollowWork, at: ShardAtWork, role: Role, log: LogRead): Promise<boolean> {
  const { held } = at;
  const hole = lasts(work, held, 'hole', log.hole);
  if (hole && !hole.told && work.now() - hole.since >= HOLE_MS) {
    hole.told = true;
    work.report({ kind: 'hole', shard: held.shard, added_id: hole.at, seconds: Math.round((work.now() - hole.since) / 1000) });
  }
  try {
    const gone = lasts(work, held, 'gone', log.state === 'whole' ? undefined : log.offset.added_id);
    // Another cell is a reason to ask the writer at once, a missing one only when it stays away: readers lag.
    if (gone && isDue(work, gone, log.state === 'other')) await goBack(work, at, role, log.offset);
    return log.state === 'whole' && (log.offset.added_id + log.places.length === 0 || (await fitsEpoch(work, at, log)));
  } catch (error) {
    // This shard waits; the others of the page go on.
    work.report({ kind: 'shard_failed', shard: held.shard, error });
    return false;
  }
}

async function goBack(work: FollowWork, { partition, held, tenure }: ShardAtWork, role: Role, offset: ShardOffset): Promise<void> {
  const { shard, checkpoints } = held;
  const back = await findCut(work.context, work.topologyTable, { datastore: work.follower.datastore, shard, offset, checkpoints });
  if (back) {
    partition.move(held, back, tenure);
    work.report({ kind: 'cut', shard, offset: offset.added_id, back_to: back.added_id, epoch: back.epoch });
  } else if (role === 'reader') {
    held.writerUntil = work.now() + WRITER_MS;
    work.report({ kind: 'reader_differs', shard, added_id: offset.added_id });
  }
}

/** A group without the shard's row owns it no more; a row behind the topology refuses every write until it is lifted. */
async function fitsEpoch(work: FollowWork, { held }: ShardAtWork, { epoch }: LogRead): Promise<boolean> {
  const { context, follower } = work;
  const place = placeOf(await requireDatastore(context.topology, follower.datastore), held.shard);
  const odd = lasts(work, held, 'epoch', epoch === place.epoch ? undefined : (epoch ?? -1));
  if (!odd) return true;
  if (!odd.told) context.topology.refresh();
  odd.told = true;
  if (isDue(work, odd, false)) {
    odd.told = false;
    if (epoch !== undefined && epoch < place.epoch && (await mendEpoch({ groups: context.groups, datastore: follower.datastore, shard: held.shard }, place))) {
      work.report({ kind: 'epoch_mended', shard: held.shard, epoch: place.epoch });
    }
  }
  return epoch !== undefined;
}

/** A doubt about one and the same thing, since when it lasts; forgotten once it has passed. */
function lasts({ now }: FollowWork, held: HeldShard, what: DoubtKind, at: number | undefined): Doubt | undefined {
  const known = held.doubts.get(what);
  if (at === undefined) {
    if (known) held.doubts.delete(what);
    return undefined;
  }
  if (known?.at === at) return known;
  const doubt = { at, since: now(), told: false };
  held.doubts.set(what, doubt);
  return doubt;
}

/** Once a doubt has lasted, and then each time it has lasted so long again; `atOnce`: when it first arises, too. */
function isDue({ now }: FollowWork, doubt: Doubt, atOnce: boolean): boolean {
  const first = atOnce && !doubt.told;
  if (!first && now() - doubt.since < DOUBT_MS) return false;
  if (atOnce) doubt.told = true;
  doubt.since = now();
  return true;
}
