import { setTimeout as sleep } from 'node:timers/promises';
import { homeOf, requireDatastore } from '../access/groups.ts';
import { BUSY_MS, fail, followShards, type FollowWork, type ShardAtWork } from './follow-shards.ts';
import { HandleError } from './give-cells.ts';
import type { HeldPartition } from './held-partition.ts';
import type { HeldShard } from './held-shard.ts';
import type { Holdings, OpenShard } from './holdings.ts';
import { inPages } from './log-pages.ts';
import { pauseFor } from '../pause-for.ts';
import type { BellTower } from './bells.ts';
import { adaptivePause, untilMultiple, type PassEnd, type Pauses } from './pace.ts';
import { rungShards, type RungShards } from './rung-shards.ts';
import { slowLooksOf } from './slow-looks.ts';
import { afterFailedPage, isAlone, isWaiting } from './trouble.ts';

/** A page that takes longer goes on by itself, and the next one is begun beside it. */
const PAGE_MS = 1000;
/** Pages under way at once; they are that many only where some take long. */
const PAGES_AT_ONCE = 4;
/** Shards in trouble that are tried at once, each alone: they never take the place of a page. */
const ALONE_AT_ONCE = 4;

/** It is looked once more so long after a ring: a reader may lag behind the one that rang. */
const LAGS_MS = 2000;
/** After a pass that somebody rang for; a longer one where it had many shards. */
const LEAST_REST_MS = 5;
const REST_MS_A_SHARD = 0.5;

const ORDER: readonly PassEnd[] = ['none', 'failed', 'some', 'full'];

/**
 * Follows the shards of one group among those held, again and again until the signal. Each group has a loop of its own,
 * so that one that is away, or slow to be handled, keeps nobody waiting; a page that is slow keeps its own shards
 * waiting, and a shard in trouble itself.
 *
 * Where its bells are heard, a shard is read when it rings, while cells of it come that are wanted, and else every ten
 * seconds; where they are not, with each pass.
 */
export async function followGroup(
  work: FollowWork,
  group: string,
  holdings: Holdings,
  { pauses, bells }: Pace,
  signal: AbortSignal,
): Promise<void> {
  const pauseAfter = adaptivePause(pauses);
  const pages = pagesUnderWay(work, group);
  const slowLooks = slowLooksOf(pauses);
  const rung = rungShards(bells?.of(group), work.follower.datastore);
  /** When all are looked at that are due, whether or not they rang. */
  let nextAt = work.now();
  while (!signal.aborted) {
    const isTimed = work.now() >= nextAt;
    const { shards, all } = await shardsOf(work, group, holdings, isTimed ? undefined : rung).catch(() => NO_SHARDS);
    if (isTimed) pages.beginAlone(shards.filter(({ held }) => isAlone(held.trouble)));
    const now = work.now();
    const isDue = dueShards(rung, isTimed, (shard) => slowLooks(shard, all, now), now);
    const due = shards.filter(({ held }) => !isAlone(held.trouble) && isDue(held));
    // What answers first may be a moment older than the ring: another reader, or a statement that was shared.
    for (const { held } of due)
      if (rung.has(held.shard)) {
        held.rungAt = work.now();
        held.busyUntil = held.rungAt + BUSY_MS;
      }
    rung.take(due.map(({ held }) => held.shard));
    for (const page of inPages(due)) if (!signal.aborted) await pages.begin(page);
    // Holding nothing costs nothing: what is taken next is not to wait for a long pause to end.
    const end = pages.ended(holdings.open().length === 0 ? 'some' : 'none');
    if (isTimed || due.length > 0) {
      const pause = pauseAfter(isTimed ? end : 'some');
      const at = work.now() + (end === 'full' ? 0 : pauses.aligned ? untilMultiple(pause) : pause);
      nextAt = isTimed ? at : Math.min(at, nextAt);
    }
    if (rung.since() !== undefined) {
      const restMs = Math.min(Math.max(LEAST_REST_MS, due.length * REST_MS_A_SHARD), nextAt - work.now());
      await pauseFor(Math.max(0, restMs), signal);
    }
    await rung.orAfter(nextAt - work.now(), signal);
    // A pause of none still lets timers and other groups have their turn.
    if (end === 'full') await sleep(0);
  }
  rung.stop();
  await pages.allEnded();
}

/** How often shards are looked at. */
interface Pace {
  readonly pauses: Pauses;
  /** @default none are heard */
  readonly bells?: BellTower;
}

/** Whether a shard is to be read in a pass. */
function dueShards(
  rung: RungShards,
  isTimed: boolean,
  slowLookAt: (shard: number) => number,
  now: number,
): (held: HeldShard) => boolean {
  const since = rung.since();
  if (since === undefined) return () => isTimed;
  return ({ shard, readAt, busyUntil, rungAt }) =>
    rung.has(shard) ||
    // What was begun later than so has to have found the end.
    (isTimed && (readAt < Math.max(since, busyUntil, slowLookAt(shard)) || isPast(rungAt + LAGS_MS, readAt, now)));
}

/** A time has come, and it was not read since. */
function isPast(time: number, readAt: number, now: number): boolean {
  return readAt < time && time <= now;
}

interface ShardsOfGroup {
  readonly shards: readonly OpenShard[];
  /** How many are held, of those that were asked for, whether or not something is to be done with them now. */
  readonly all: number;
}

const NO_SHARDS: ShardsOfGroup = { shards: [], all: 0 };

/** Those whose cells are wanted now; a shard whose place to begin is not known yet finds it in any case. */
async function shardsOf(
  { context, follower, now }: FollowWork,
  group: string,
  holdings: Holdings,
  only?: RungShards,
): Promise<ShardsOfGroup> {
  const topology = await requireDatastore(context.topology, follower.datastore);
  const time = now();
  const isWanted = (held: HeldShard): boolean => {
    const { shard, offset } = held;
    if (!offset || follower.wants?.(shard, offset) !== false) return true;
    // It is read as soon as its cells are wanted.
    held.readAt = Number.NEGATIVE_INFINITY;
    return false;
  };
  const shards: OpenShard[] = [];
  let all = 0;
  const consider = (partition: HeldPartition, held: HeldShard): void => {
    if (homeOf(topology, held.shard).group !== group) return;
    all += 1;
    if (!held.isBusy && !isWaiting(held.trouble, time) && isWanted(held)) shards.push({ partition, held });
  };
  if (only) for (const { partition, held } of rungAmong(holdings, only)) consider(partition, held);
  else for (const partition of holdings.open()) for (const held of partition.shards) consider(partition, held);
  return { shards, all };
}

/** Those that rang: under load that is asked for hundreds of times a second, and few of thousands ring at a time. */
function rungAmong(holdings: Holdings, rung: RungShards): readonly OpenShard[] {
  const found: OpenShard[] = [];
  for (const shard of rung.all()) {
    const open = holdings.openShard(shard);
    if (open) found.push(open);
  }
  // As in the other: followers that hold the same ones read the same pages.
  return found.sort(
    (one, other) => one.partition.partition - other.partition.partition || one.held.shard - other.held.shard,
  );
}

/** The pages of one group that are under way, and what came of those that ended. */
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
    /** Begins a page, and waits until it has ended or has taken long. */
    async begin(shards: readonly OpenShard[]): Promise<void> {
      while (underWay.size >= PAGES_AT_ONCE) await Promise.race(underWay);
      const patience = new AbortController();
      await Promise.race([
        run(underWay, () => onePage(work, group, shards, failing)),
        pauseFor(PAGE_MS, patience.signal),
      ]);
      patience.abort();
    },

    /** Tries shards in trouble, a few at a time; waits for nothing. */
    beginAlone(shards: readonly OpenShard[]): void {
      waiting = [...shards];
      nextAlone();
    },

    /** What came, at best, of the pages that ended since this was last asked. */
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

/** Works on shards that nobody works on, and whose partitions may be worked on; nobody else does meanwhile. */
async function busy(
  shards: readonly OpenShard[],
  work: (page: readonly ShardAtWork[]) => Promise<PassEnd>,
): Promise<PassEnd> {
  // Until it is known that they are read to their end; one whose partition was closed meanwhile is read later.
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
