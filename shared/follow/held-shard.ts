import { withCheckpoint, type Checkpoint, type ShardOffset } from './offsets.ts';

export interface HeldShard {
  readonly shard: number;
  /** Undefined until the start is written. */
  offset: ShardOffset | undefined;
  /** The start that was found, until it is written. */
  start: ShardOffset | undefined;
  checkpoints: readonly Checkpoint[];
  /** How far the log went when, for a follower that stays behind it. */
  heads: readonly SeenHead[];
  /** Suspicions that may pass by themselves. */
  readonly suspicions: Map<SuspicionKind, Suspicion>;
  trouble: Trouble | undefined;
  isBusy: boolean;
  /** The writer is read until then (local clock, as below), since a reader was found wrong. */
  writerUntil: number;
  /** When the last read began that found the end, with nothing left to do. */
  readAt: number;
  /** More cells are expected until then. */
  busyUntil: number;
  notifiedAt: number;
}

/** A hole in the log; the cell at the offset is gone; an epoch that does not fit. */
export type SuspicionKind = 'hole' | 'gone' | 'epoch';

export interface Suspicion {
  /** The suspected added id or epoch. */
  readonly at: number;
  since: number;
  told: boolean;
}

export function heldShard(
  shard: number,
  offset: ShardOffset | undefined,
  checkpoints: readonly Checkpoint[] = [],
): HeldShard {
  return {
    shard,
    offset,
    start: undefined,
    checkpoints,
    heads: [],
    suspicions: new Map(),
    trouble: undefined,
    isBusy: false,
    writerUntil: Number.NEGATIVE_INFINITY,
    readAt: Number.NEGATIVE_INFINITY,
    busyUntil: Number.NEGATIVE_INFINITY,
    notifiedAt: Number.NEGATIVE_INFINITY,
  };
}

/** Sets how far a shard is done, and keeps checkpoints. Returns whether that changes anything. */
export function moveTo(shard: HeldShard, offset: ShardOffset): boolean {
  const before = shard.offset;
  if (
    before &&
    before.added_id === offset.added_id &&
    before.fingerprint === offset.fingerprint &&
    before.epoch === offset.epoch
  )
    return false;
  shard.offset = offset;
  if (before && offset.added_id < before.added_id) {
    shard.checkpoints = shard.checkpoints.filter(({ added_id }) => added_id <= offset.added_id);
    // The log was cut: other cells take these added ids.
    shard.heads = [];
  } else if (offset.added_id > 0)
    shard.checkpoints = withCheckpoint(shard.checkpoints, {
      added_id: offset.added_id,
      fingerprint: offset.fingerprint,
    });
  return true;
}

/** Continues from where a rewind put a shard. */
export function rewindTo(shard: HeldShard, offset: ShardOffset | undefined): void {
  shard.offset = offset;
  shard.start = undefined;
  shard.readAt = Number.NEGATIVE_INFINITY;
  shard.checkpoints = shard.checkpoints.filter(({ added_id }) => added_id < (offset?.added_id ?? 0));
  shard.suspicions.clear();
}

/** A shard that cannot be read or handled: it is tried alone, so that it costs no other shard anything. */
interface Trouble {
  /** Consecutive ones. */
  readonly failures: number;
  /** Not tried before, by the local clock. */
  readonly until: number;
  readonly isTold: boolean;
}

/** A page may fail because of another shard: a shard is alone from the second time on. */
const ALONE_FROM = 2;
const LEAST_PAUSE_MS = 250;
const MOST_PAUSE_MS = 5000;

export function isAlone(trouble: Trouble | undefined): boolean {
  return trouble !== undefined && trouble.failures >= ALONE_FROM;
}

export function isWaiting(trouble: Trouble | undefined, now: number): boolean {
  return trouble !== undefined && now < trouble.until;
}

/** After a page failed, of which each shard may be the reason. */
export function afterFailedPage(before: Trouble | undefined, now: number): Trouble {
  return { failures: (before?.failures ?? 0) + 1, until: now, isTold: before?.isTold ?? false };
}

/** After a failure of its own: the pause grows from a quarter of a second to five. */
export function afterFailure(before: Trouble | undefined, now: number): Trouble {
  const failures = Math.max(before?.failures ?? 0, ALONE_FROM - 1) + 1;
  return {
    failures,
    until: now + Math.min(LEAST_PAUSE_MS * 2 ** (failures - ALONE_FROM), MOST_PAUSE_MS),
    isTold: true,
  };
}

/** After only the other role could read it: it is read alone from there for a while. */
export function elsewhere(before: Trouble | undefined, now: number): Trouble {
  return { failures: ALONE_FROM, until: now, isTold: before?.isTold ?? false };
}

/** How far a log went, and when this process saw that, by its own clock. */
export interface SeenHead {
  readonly added_id: number;
  readonly at: number;
}

/** Heads kept of each shard: cells are handed out late by at most a sixteenth of the time. */
const KEPT = 16;

/** Adds a head to those seen, which are in order, and drops those that one older than `behindMs` makes superfluous. */
export function withHead(seen: readonly SeenHead[], head: SeenHead, behindMs: number): readonly SeenHead[] {
  const last = seen.at(-1);
  if (last && head.added_id <= last.added_id) return seen;
  const known = seen.slice(
    Math.max(
      0,
      seen.findLastIndex(({ at }) => head.at - at >= behindMs),
    ),
  );
  // Two heads that are closer become the later one: cells between them are handed out a little later.
  const before = known.at(-2);
  const isClose = last !== undefined && before !== undefined && last.at - before.at < behindMs / KEPT;
  return [...(isClose ? known.slice(0, -1) : known), head];
}

/**
 * Returns the last added id that this process has known for so long, 0 if none. It does not use `created_at`: after a
 * moment of a server's clock that is ahead, every later cell of the shard would stay too young until that time.
 */
export function knownFor(seen: readonly SeenHead[], now: number, behindMs: number): number {
  return seen.findLast(({ at }) => now - at >= behindMs)?.added_id ?? 0;
}
