import type { Role } from '../cell.ts';
import {
  type LogRange,
  type LogRangesWanted,
  selectLogEntries,
  type ShardLogEntries,
  type StoredLogEntry,
  toShardLogEntries,
} from '../sql/statements/select-log-entries.ts';
import type { StoreContext } from '../access/context.ts';
import { askParts, partsOf, type Refusal } from '../access/ask-parts.ts';
import { type ShardOffset, fingerprintOf, UNKNOWN_FINGERPRINT } from './offsets.ts';

interface ReadFrom extends LogRangesWanted {
  readonly datastore: string;
  /** The role that is asked first; the other one answers if it cannot. */
  readonly read: Role;
  /** False accepts any cell at the offset, for a reader that never was there. @default true */
  readonly fingerprints?: boolean;
  readonly fetch?: FetchLogEntries;
}

/** Reads ranges of one group's logs, and answers in their order. */
export type FetchLogEntries = (
  context: StoreContext,
  group: string,
  from: Omit<ReadFrom, 'fingerprints' | 'fetch'>,
  ranges: readonly LogRange[],
) => Promise<{ readonly role: Role; readonly found: readonly ShardLogEntries[] }>;

export const fetchLogEntries: FetchLogEntries = async (context, group, from, ranges) => {
  const { role, rows, refused } = await askParts(
    await context.groups.client(group),
    group,
    from.read,
    partsOf(selectLogEntries(from.datastore, ranges, from)),
  );
  const found = toShardLogEntries(rows, ranges.length);
  return {
    role,
    found:
      refused.size === 0
        ? found
        : found.map((entries, item) => ({
            ...entries,
            ...(refused.has(item) ? { refusal: refused.get(item) as Refusal } : {}),
          })),
  };
};

export interface LogRead {
  /**
   * - `missing`: no cell is at the offset: this node lags, or the log was cut.
   * - `other`: another cell is there: the log was cut, or this node was left behind.
   * - `refused`: no node could read this shard.
   */
  readonly state: 'whole' | 'missing' | 'other' | 'refused';
  /** Why the role that was asked first refused; the other one may have answered. */
  readonly refusal?: Refusal | undefined;
  readonly offset: ShardOffset;
  /** The cells after the offset, without a hole. None unless `whole`. */
  readonly entries: readonly StoredLogEntry[];
  /** The missing added id before others that are there. */
  readonly hole: number | undefined;
  /** As many cells came as were asked for. */
  readonly full: boolean;
  /** How far the log goes, if that was asked for and a cell was found. */
  readonly head?: number | undefined;
  /** Of the shard's row on this group; undefined if the log is empty, or the group does not own the shard. */
  readonly epoch: number | undefined;
}

/**
 * Reads the next cells of at most 95 shards of one group, in one statement and in their order. Throws SchemalessError
 * `unavailable` when no node answered.
 */
export async function readLogEntries(
  context: StoreContext,
  group: string,
  from: ReadFrom,
  shards: readonly { readonly shard: number; readonly offset: ShardOffset; readonly to?: number }[],
): Promise<{ readonly role: Role; readonly logs: readonly LogRead[] }> {
  const ranges = shards.map(({ shard, offset, to }) => ({
    shard,
    at: offset.added_id,
    ...(to === undefined ? {} : { to }),
  }));
  const { role, found } = await (from.fetch ?? fetchLogEntries)(context, group, from, ranges);
  return {
    role,
    logs: shards.map(({ offset }, item) => {
      const answer = found[item] ?? { entries: [], epoch: undefined };
      const { epoch, refusal } = answer;
      const none = { offset, entries: [], hole: undefined, full: false, epoch, refusal };
      if (refusal?.isAnswered === false) return { ...none, state: 'refused' };
      return judge(offset, answer, from);
    }),
  };
}

function judge(
  offset: ShardOffset,
  { entries: found, epoch, head, refusal }: ShardLogEntries,
  { limit, fingerprints = true }: ReadFrom,
): LogRead {
  const none = { offset, entries: [], hole: undefined, full: false, head, epoch, refusal };
  const begun = offset.added_id > 0;
  const first = begun ? found[0] : undefined;
  if (begun && first?.added_id !== offset.added_id && fingerprints) return { ...none, state: 'missing' };
  const fingerprint = first ? fingerprintOf(first) : offset.fingerprint;
  const isKnown = offset.fingerprint !== UNKNOWN_FINGERPRINT;
  if (begun && isKnown && fingerprints && fingerprint !== offset.fingerprint) return { ...none, state: 'other' };
  const next = first?.added_id === offset.added_id ? found.slice(1) : found;
  const entries = untilHole(next, offset.added_id);
  return {
    state: 'whole',
    offset: { added_id: offset.added_id, fingerprint, epoch: Math.max(offset.epoch, epoch ?? 0) },
    entries,
    hole: entries.length < next.length ? offset.added_id + entries.length + 1 : undefined,
    full: entries.length >= limit,
    head,
    epoch,
    refusal,
  };
}

/** Added ids are dense: a hole is a commit that this snapshot does not show yet, never to be stepped over. */
export function untilHole<Cell extends { readonly added_id: number }>(
  entries: readonly Cell[],
  after: number,
): readonly Cell[] {
  const hole = entries.findIndex(({ added_id }, position) => added_id !== after + position + 1);
  return hole < 0 ? entries : entries.slice(0, hole);
}

export function offsetAt(entry: StoredLogEntry, epoch: number): ShardOffset {
  return { added_id: entry.added_id, fingerprint: fingerprintOf(entry), epoch };
}

/** Followers that wake at once ask within a millisecond or two. */
const FOR_MS = 5;

interface Fetched {
  readonly role: Role;
  readonly entries: ShardLogEntries;
}

/** Shares one statement among followers that read the same ranges at once. An answer is milliseconds old at most. */
export function shareFetches(fetch: FetchLogEntries = fetchLogEntries, forMs = FOR_MS): FetchLogEntries {
  const known = new Map<string, Promise<Fetched>>();

  return async (context, group, from, ranges) => {
    const { datastore, read, limit, withHead = false } = from;
    const keyOf = ({ shard, at, to }: (typeof ranges)[number]): string =>
      `${group} ${datastore} ${read} ${limit} ${withHead} ${shard} ${at} ${to}`;
    const missing = ranges.filter((range) => !known.has(keyOf(range)));
    if (missing.length > 0) {
      const answer = fetch(context, group, from, missing);
      for (const [item, range] of missing.entries())
        known.set(
          keyOf(range),
          answer.then(({ role, found }) => ({ role, entries: found[item] ?? { entries: [], epoch: undefined } })),
        );
      const forget = (): void => missing.forEach((range) => known.delete(keyOf(range)));
      answer.then(() => setTimeout(forget, forMs), forget);
    }
    const parts = await Promise.all(ranges.map((range) => known.get(keyOf(range)) as Promise<Fetched>));
    return {
      role: parts.every(({ role }) => role === 'writer') ? 'writer' : 'reader',
      found: parts.map(({ entries }) => entries),
    };
  };
}
