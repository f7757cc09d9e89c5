import { readState, setState, updateState, type StateItem } from '../dynamo/state-table.ts';
import { slicesOf } from '../slices-of.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { indexKey, versionsOf, type IndexName, type IndexVersion } from './index-catalogue.ts';

/** The current state of an index in the topology table. */
export interface IndexNow {
  /** In the order in which they were added; none if there is no such index. */
  readonly versions: readonly IndexVersion[];
  /** Undefined before the first write. */
  readonly progress: IndexProgress | undefined;
  /** Of all versions listed. */
  readonly mistyped: readonly MistypedCounted[];
}

/** The progress of an index's repair, written every few seconds. */
interface RepairProgress {
  /** By hash of each version being built: the cells of the logs read so far, and all of them. */
  readonly builds: Readonly<Record<string, { readonly done: number; readonly total: number }>>;
  /** How far the repair is behind the logs, in cells. */
  readonly lag: number;
  /** RFC 3339, UTC. */
  readonly at: string;
}

interface IndexProgress extends RepairProgress {
  /** The largest shard's share of the live entries, 0 to 1; null before the first count. */
  readonly largest_share: number | null;
}

/** A field of a version of an index, and rows whose latest cell had it with another type. */
export interface MistypedFound {
  readonly hash: string;
  readonly position: number;
  readonly rows: number;
  /** One of them. */
  readonly row_key: string;
}

/** The counts of a version's field since the version was listed. */
interface MistypedCounted extends MistypedFound {
  /** When one was found last: RFC 3339, UTC. */
  readonly at: string;
}

/** Fields counted with one write: an expression has its limits. */
const FIELDS_A_WRITE = 20;
const COUNT = /^mistyped_([0-9a-f]{8})_(\d+)$/u;

/** Returns the key of the item with the repair's progress and counts. */
const progressKey = ({ datastore, name }: IndexName): string => `progress#${datastore}#${name}`;

/** Reads one index past every cache: two items. Throws what DynamoDB throws. */
export async function readIndexNow(table: DynamoTable, index: IndexName): Promise<IndexNow> {
  const [catalogue, progress = {}] = await Promise.all(
    [indexKey(index), progressKey(index)].map((key) => readState(table, key)),
  );
  return { versions: versionsOf(catalogue), progress: toProgress(progress), mistyped: toMistyped(progress) };
}

export function writeIndexProgress(table: DynamoTable, index: IndexName, progress: RepairProgress): Promise<unknown> {
  return setState(table, progressKey(index), { progress: { S: JSON.stringify(progress) } });
}

export function writeLargestShare(table: DynamoTable, index: IndexName, share: number): Promise<unknown> {
  return setState(table, progressKey(index), { largest_share: { N: String(share) } });
}

function toProgress({ progress, largest_share: share }: StateItem): IndexProgress | undefined {
  if (progress?.S === undefined) return undefined;
  const largest_share = share?.N === undefined ? null : Number(share.N);
  return { ...(JSON.parse(progress.S) as RepairProgress), largest_share };
}

/** Adds to an index's counts of mistyped fields, with an example: one number a field, in its progress item. */
export async function addMistyped(
  table: DynamoTable,
  index: IndexName,
  found: readonly MistypedFound[],
): Promise<void> {
  for (const some of slicesOf(found, FIELDS_A_WRITE)) {
    const page = some.map((one) => ({ ...one, of: `${one.hash}_${one.position}` }));
    await updateState(table, {
      key: progressKey(index),
      update: `SET ${page.map(({ of }) => `#example_${of} = :row_${of}, #found_${of} = :at`).join(', ')} ADD ${page.map(({ of }) => `#mistyped_${of} :rows_${of}`).join(', ')}`,
      values: {
        ':at': { S: new Date().toISOString() },
        ...Object.fromEntries(page.map(({ of, rows }) => [`:rows_${of}`, { N: String(rows) }])),
        ...Object.fromEntries(page.map(({ of, row_key }) => [`:row_${of}`, { S: row_key }])),
      },
    });
  }
}

/** Deletes the counts of a version after it was forgotten. */
export async function forgetMistyped(
  table: DynamoTable,
  index: IndexName,
  hash: string,
  fields: number,
): Promise<void> {
  const names = Array.from({ length: fields }, (_, position) =>
    ['mistyped', 'example', 'found'].map((what) => `${what}_${hash}_${position}`),
  ).flat();
  for (const some of slicesOf(names, FIELDS_A_WRITE))
    await setState(table, progressKey(index), Object.fromEntries(some.map((name) => [name, undefined])));
}

/** Returns an item's counts in the order of versions and fields. */
function toMistyped(item: StateItem): MistypedCounted[] {
  return Object.entries(item)
    .flatMap(([attribute, { N: rows }]) => {
      const [, hash, position] = COUNT.exec(attribute) ?? [];
      if (hash === undefined) return [];
      const [row_key = '', at = ''] = ['example', 'found'].map((what) => item[`${what}_${hash}_${position}`]?.S);
      return [{ hash, position: Number(position), rows: Number(rows), row_key, at }];
    })
    .sort((one, other) => one.hash.localeCompare(other.hash) || one.position - other.position);
}
