import { readState, setState } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import type { ErasureTarget } from '../../address.ts';
import { sideBySide } from '../../side-by-side.ts';
import type { RetentionRule } from '../../definitions/definitions.ts';

/** How far each shard's log was searched by retention: `retention#trips#0` for 4 shards, attribute `s12` each. */
export interface RetentionPlace {
  /** Of the rules by which it was looked, and the shard's epoch: under others, all is looked at again. */
  readonly rules: string;
  readonly epoch: number;
  /** Up to where columns were looked at that had much to erase. */
  readonly often: number;
  /** Up to where columns were looked at that had anything to erase, and when the last look came to the log's end. */
  readonly all: Reached;
  /** By milliseconds of a `keep_for`: up to where cells were looked at that were older, and when. */
  readonly aged: Readonly<Record<string, Reached>>;
  /** What was begun and is not known to be done everywhere. */
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
  /** Why it is not done; null while nobody knows. */
  readonly waits_for: string | null;
}

/** Together with what is open of each, at most, they have to fit into the 400 KB of an item. */
const SHARDS_AN_ITEM = 4;
const keyOf = (datastore: string, shard: number): string =>
  `retention#${datastore}#${Math.floor(shard / SHARDS_AN_ITEM)}`;
const nameOf = (shard: number): string => `s${shard}`;

/** Of the shards of a datastore that have any. */
export async function readPlaces(
  table: DynamoTable,
  datastore: string,
  shards: number,
): Promise<Map<number, RetentionPlace>> {
  const places = new Map<number, RetentionPlace>();
  const firsts = Array.from({ length: Math.ceil(shards / SHARDS_AN_ITEM) }, (_, item) => item * SHARDS_AN_ITEM);
  await sideBySide(firsts, async (first) => {
    const item = await readState(table, keyOf(datastore, first));
    for (let shard = first; shard < Math.min(shards, first + SHARDS_AN_ITEM); shard += 1) {
      const text = item?.[nameOf(shard)]?.S;
      if (text !== undefined) places.set(shard, JSON.parse(text) as RetentionPlace);
    }
  });
  return places;
}

/**
 * Writes how far a shard is. `token`: of the lease: who had it before writes nothing any more. Returns false where
 * another has the lease by now.
 */
export async function writePlace(
  table: DynamoTable,
  at: { readonly datastore: string; readonly shard: number; readonly token: number },
  place: RetentionPlace,
): Promise<boolean> {
  const attributes = { [nameOf(at.shard)]: { S: JSON.stringify(place) }, token: { N: String(at.token) } };
  const written = await setState(table, keyOf(at.datastore, at.shard), attributes, {
    condition: 'attribute_not_exists(#token) OR #token <= :token',
  });
  return written !== undefined;
}

/** How often it is looked, and how hard. */
export interface RetentionSettings {
  /** Between looks at what was written since, for columns that have much to erase. @default a minute */
  readonly roundMs?: number;
  /** Between looks for all that there is to erase: so long a body may stay beyond its retention. @default a day */
  readonly wholeMs?: number;
  /** Pause after work, as a part of how long it took. @default 1: half of the time */
  readonly rest?: number;
}

export const ROUND_MS = 60_000;
export const WHOLE_MS = 86_400_000;

/** Between looks for what has grown old: cells are erased a tenth of their time after it at the latest, or a day. */
export function agedEveryMs(keepForMs: number, { roundMs = ROUND_MS, wholeMs = WHOLE_MS }: RetentionSettings): number {
  return Math.min(wholeMs, Math.max(roundMs, keepForMs / 10));
}

export function keepTimes(rules: readonly RetentionRule[]): readonly number[] {
  return [...new Set(rules.flatMap(({ keepForMs }) => keepForMs ?? []))];
}

/** Returns by how many seconds retention's most overdue poll is late; undefined before the first. */
export function behindSeconds(
  rules: readonly RetentionRule[],
  places: readonly RetentionPlace[],
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
