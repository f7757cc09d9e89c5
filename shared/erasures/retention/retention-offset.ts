import { readState, setState } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import type { ErasureTarget } from '../../address.ts';
import { sideBySide } from '../../side-by-side.ts';
import type { RetentionRule } from '../../definitions/definitions.ts';

/** How far retention searched a shard's log: `retention#trips#0` for 4 shards, attribute `s12` each. */
export interface RetentionOffset {
  /** The hash of the search's rules. Under other rules, or another epoch, all is searched again. */
  readonly rules: string;
  readonly epoch: number;
  /** The added id up to which columns with much to erase were searched. */
  readonly often: number;
  /** The added id up to which all columns were searched, and when a search last reached the log's end. */
  readonly all: Reached;
  /** By milliseconds of a `keep_for`: the added id up to which older cells were searched, and when. */
  readonly aged: Readonly<Record<string, Reached>>;
  /** Parts that were begun and are not known to be done everywhere. */
  readonly open: readonly OpenPart[];
}

export interface Reached {
  readonly added_id: number;
  /** By `Date.now()`. */
  readonly at: number;
}

/** An erasure that was begun. */
export interface OpenPart {
  readonly target: ErasureTarget;
  /** Why it is not done; null before that is known. */
  readonly waits_for: string | null;
}

/** Their offsets, with the most open parts of each, must fit into an item's 400 KB. */
const SHARDS_AN_ITEM = 4;
const keyOf = (datastore: string, shard: number): string =>
  `retention#${datastore}#${Math.floor(shard / SHARDS_AN_ITEM)}`;
const nameOf = (shard: number): string => `s${shard}`;

/** Reads the offsets of the shards that have one. */
export async function readOffsets(
  table: DynamoTable,
  datastore: string,
  shards: number,
): Promise<Map<number, RetentionOffset>> {
  const places = new Map<number, RetentionOffset>();
  const firsts = Array.from({ length: Math.ceil(shards / SHARDS_AN_ITEM) }, (_, item) => item * SHARDS_AN_ITEM);
  await sideBySide(firsts, async (first) => {
    const item = await readState(table, keyOf(datastore, first));
    for (let shard = first; shard < Math.min(shards, first + SHARDS_AN_ITEM); shard += 1) {
      const text = item?.[nameOf(shard)]?.S;
      if (text !== undefined) places.set(shard, JSON.parse(text) as RetentionOffset);
    }
  });
  return places;
}

/**
 * Writes the offset of a shard. `token`: of the lease, so that a former lease holder writes nothing any more. Returns
 * false if another worker has the lease by now.
 */
export async function writeOffset(
  table: DynamoTable,
  at: { readonly datastore: string; readonly shard: number; readonly token: number },
  place: RetentionOffset,
): Promise<boolean> {
  const attributes = { [nameOf(at.shard)]: { S: JSON.stringify(place) }, token: { N: String(at.token) } };
  const written = await setState(table, keyOf(at.datastore, at.shard), attributes, {
    condition: 'attribute_not_exists(#token) OR #token <= :token',
  });
  return written !== undefined;
}

/** How often retention searches, and how much of the time. */
export interface RetentionSettings {
  /** Milliseconds between searches of new cells, for columns with much to erase. @default a minute */
  readonly roundMs?: number;
  /** Milliseconds between full searches: a body may outlive its retention by as much. @default a day */
  readonly wholeMs?: number;
  /** The pause after work, as a multiple of its duration. @default 1: half of the time */
  readonly rest?: number;
}

export const ROUND_MS = 60_000;
export const WHOLE_MS = 86_400_000;

/** Returns milliseconds between searches for aged cells: a tenth of their time, from `roundMs` to `wholeMs`. */
export function agedEveryMs(keepForMs: number, { roundMs = ROUND_MS, wholeMs = WHOLE_MS }: RetentionSettings): number {
  return Math.min(wholeMs, Math.max(roundMs, keepForMs / 10));
}

export function keepTimes(rules: readonly RetentionRule[]): readonly number[] {
  return [...new Set(rules.flatMap(({ keepForMs }) => keepForMs ?? []))];
}

/** Returns by how many seconds retention's most overdue poll is late; undefined before the first. */
export function behindSeconds(
  rules: readonly RetentionRule[],
  places: readonly RetentionOffset[],
  settings: RetentionSettings = {},
): number | undefined {
  if (places.length === 0) return undefined;
  const now = Date.now();
  const byVersions = rules.some(({ keepVersions }) => keepVersions !== undefined);
  const lateMs = places.flatMap(({ all, aged }) => [
    ...(byVersions ? [now - all.at - (settings.wholeMs ?? WHOLE_MS)] : []),
    ...keepTimes(rules).flatMap((ms) => (aged[ms] ? [now - aged[ms].at - agedEveryMs(ms, settings)] : [])),
  ]);
  return Math.round(Math.max(0, ...lateMs) / 1000);
}
