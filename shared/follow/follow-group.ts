import { setTimeout as sleep } from 'node:timers/promises';
import { homeOf, requireDatastore } from '../access/groups.ts';
import { BUSY_MS, fail, followShards, type FollowWork, type ShardAtWork } from './follow-shards.ts';
import { HandleError } from './give-cells.ts';
import type { HeldPartition } from './held-partition.ts';
import { type HeldShard, afterFailedPage, isAlone, isWaiting } from './held-shard.ts';
import type { AssignedPartitions, OpenShard } from './assigned-partitions.ts';
import { inPages } from './log-pages.ts';
import { pauseFor } from '../pause-for.ts';
import { type Notifiers, notifiedShards, type NotifiedShards } from './notifications.ts';
import { adaptivePause, lastSlowPoll, untilMultiple, type PassEnd, type Pauses } from './pace.ts';

/** A slower page goes on in parallel with the next one. */
const PAGE_MS = 1000;
const PAGES_AT_ONCE = 4;
/** Shards in trouble tried at once, each alone: they never take the place of a page. */
const ALONE_AT_ONCE = 4;

/** The time to read a shard again after a notification: a reader may lag behind the one that sent it. */
const LAGS_MS = 2000;
/** Pauses after a pass for notifications; longer after many shards. */
const LEAST_REST_MS = 5;
const REST_MS_A_SHARD = 0.5;

const ORDER: readonly PassEnd[] = ['none', 'failed', 'some', 'full'];

/**
 * Follows the assigned shards of one group until the signal. A slow page delays only its own shards, and a faulty shard
 * only itself.
 *
 * While notifications arrive, reads a shard when notified, while its wanted cells come, and every ten seconds.
 * Otherwise each pass reads all shards.
 */
export async function followGroup(
  work: FollowWork,
  group: string,
  assigned: AssignedPartitions,
  { pauses = {}, notifications }: { readonly pauses?: Pauses; readonly notifications?: Notifiers },
  signal: AbortSignal,
): Promise<void> {
  const pauseAfter = adaptivePause(pauses);
  const pages = pagesUnderWay(work, group);
  const notified = notifiedShards(notifications?.of(group), work.follower.datastore);
  /** When the next pass polls all shards, notified or not. */
  let nextAt = work.now();
  while (!signal.aborted) {
    const isTimed = work.now() >= nextAt;
    const shards = await shardsOf(work, group, assigned, isTimed ? undefined : notified).catch(() => []);
    if (isTimed) pages.beginAlone(shards.filter(({ held }) => isAlone(held.trouble)));
    const now = work.now();
    const since = notified.since() ?? Number.POSITIVE_INFINITY;
    const polledAt = Math.max(since, lastSlowPoll(pauses, now));
    const isDue = (held: HeldShard): boolean =>
      notified.has(held.shard) || (isTimed && held.readAt < lastDue(held, polledAt, now));
    const due = shards.filter(({ held }) => !isAlone(held.trouble) && isDue(held));
    // The first answer may be a moment older than the notification: from another reader, or a shared statement.
    for (const { held } of due)
      if (notified.has(held.shard)) {
        held.notifiedAt = work.now();
        held.busyUntil = held.notifiedAt + BUSY_MS;
      }
    notified.take(due.map(({ held }) => held.shard));
    for (const page of inPages(due)) if (!signal.aborted) await pages.begin(page);
    // A worker that holds nothing must not wait for a long pause once it takes a partition.
    const end = pages.ended(assigned.open().length === 0 ? 'some' : 'none');
    if (isTimed || due.length > 0) {
      const pause = pauseAfter(isTimed ? end : 'some');
      const at = work.now() + (end === 'full' ? 0 : untilMultiple(pause, work.now()));
      nextAt = isTimed ? at : Math.min(at, nextAt);
    }
    if (notified.since() !== undefined) {
      const restMs = Math.min(Math.max(LEAST_REST_MS, due.length * REST_MS_A_SHARD), nextAt - work.now());
      await pauseFor(Math.max(0, restMs), signal);
    }
    await notified.orAfter(nextAt - work.now(), signal);
    // Lets timers and other groups have their turn.
    if (end === 'full') await sleep(0);
  }
  notified.stop();
  await pages.allEnded();
}

/** Returns the time by which a read of the shard must have begun that found its end, if no notification came since. */
function lastDue({ busyUntil, notifiedAt }: HeldShard, polledAt: number, now: number): number {
  return Math.max(polledAt, busyUntil, notifiedAt + LAGS_MS <= now ? notifiedAt + LAGS_MS : Number.NEGATIVE_INFINITY);
}

/** Returns the shards whose cells are wanted now; one without an offset always finds its start. */
async function shardsOf(
  { context, follower, now }: FollowWork,
  group: string,
  assigned: AssignedPartitions,
  only?: NotifiedShards,
): Promise<OpenShard[]> {
  const topology = await requireDatastore(context.topology, follower.datastore);
  const time = now();
  const isWanted = (held: HeldShard): boolean => {
    const { shard, offset } = held;
    if (!offset || follower.wants?.(shard, offset) !== false) return true;
    held.readAt = Number.NEGATIVE_INFINITY;
    return false;
  };
  const shards: OpenShard[] = [];
  const consider = (partition: HeldPartition, held: HeldShard): void => {
    if (homeOf(topology, held.shard).group !== group) return;
    if (!held.isBusy && !isWaiting(held.trouble, time) && isWanted(held)) shards.push({ partition, held });
  };
  if (only) for (const { partition, held } of notifiedAmong(assigned, only)) consider(partition, held);
  else for (const partition of assigned.open()) for (const held of partition.shards) consider(partition, held);
  return shards;
}

/** Returns the notified shards: it runs hundreds of times a second under load, for few of thousands at a time. */
function notifiedAmong(assigned: AssignedPartitions, notified: NotifiedShards): readonly OpenShard[] {
  const found: OpenShard[] = [];
  for (const shard of notified.all()) {
    const open = assigned.openShard(shard);
    if (open) found.push(open);
  }
  // Followers that hold the same shards read the same pages.
  return found.sort(
    (one, other) => one.partition.partition - other.partition.partition || one.held.shard - other.held.shard,
  );
}

function pagesUnderWay(work: FollowWork, group: string) {
  const failing = new Set<string>();
  const underWay = new Set<Promise<void>>();
  const alone = new Set<Promise<void>>();
  let waiting: OpenShard[] = [];
  let ends: PassEnd[] = [];

  function run(among: Set<Promise<void>>, page: () => Promise<PassEnd>): Promise<void> {
    const running = page().then((end) => {
      among.delete(running);
      ends.push(end);
    });
    among.add(running);
    return running;
  }

  function nextAlone(): void {
    while (alone.size < ALONE_AT_ONCE) {
      const at = waiting.shift();
      if (!at) return;
      void run(alone, () => oneAlone(work, group, at)).then(nextAlone);
    }
  }

  return {
    /** Begins a page, and waits until it ends or takes long. */
    async begin(shards: readonly OpenShard[]): Promise<void> {
      while (underWay.size >= PAGES_AT_ONCE) await Promise.race(underWay);
      const patience = new AbortController();
      await Promise.race([
        run(underWay, () => onePage(work, group, shards, failing)),
        pauseFor(PAGE_MS, patience.signal),
      ]);
      patience.abort();
    },

    /** Begins to try shards in trouble, without waiting. */
    beginAlone(shards: readonly OpenShard[]): void {
      waiting = [...shards];
      nextAlone();
    },

    /** Returns the best end of the pages that ended since the last call. */
    ended(otherwise: PassEnd): PassEnd {
      const best = ends.reduce((one, other) => (ORDER.indexOf(other) > ORDER.indexOf(one) ? other : one), otherwise);
      ends = [];
      return best;
    },

    async allEnded(): Promise<void> {
      waiting = [];
      await Promise.all([...underWay, ...alone]);
    },
  };
}

async function onePage(
  work: FollowWork,
  group: string,
  shards: readonly OpenShard[],
  failing: Set<string>,
): Promise<PassEnd> {
  try {
    const end = await busy(shards, (page) => followShards(work, group, page));
    failing.clear();
    return end;
  } catch (error) {
    const isHandled = error instanceof HandleError;
    const kind = isHandled ? 'handle_failed' : 'group_failed';
    if (!failing.has(kind)) work.report({ kind, group, error });
    failing.add(kind);
    if (isHandled) for (const { held } of shards) held.trouble = afterFailedPage(held.trouble, work.now());
    return 'failed';
  }
}

async function oneAlone(work: FollowWork, group: string, at: OpenShard): Promise<PassEnd> {
  try {
    return await busy([at], (page) => followShards(work, group, page));
  } catch (error) {
    fail(work, at.held, error);
    return 'none';
  }
}

/** Works on the shards that are free and whose partitions are open, and keeps others off them. */
async function busy(
  shards: readonly OpenShard[],
  work: (page: readonly ShardAtWork[]) => Promise<PassEnd>,
): Promise<PassEnd> {
  // Until a read finds their end; a shard whose partition was closed is read later.
  for (const { held } of shards) if (!held.isBusy) held.readAt = Number.NEGATIVE_INFINITY;
  const page = shards
    .filter(({ partition, held }) => partition.isOpen() && !held.isBusy)
    .map((at) => ({ ...at, tenure: at.partition.tenure() }));
  if (page.length === 0) return 'none';
  for (const { partition, held } of page) {
    partition.enter();
    held.isBusy = true;
  }
  try {
    return await work(page);
  } finally {
    for (const { partition, held } of page) {
      partition.leave();
      held.isBusy = false;
    }
  }
}
