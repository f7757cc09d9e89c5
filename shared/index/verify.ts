import { setTimeout as sleep } from 'node:timers/promises';
import { shardOf } from '../shard.ts';
import { selectIndexPage, toScannedEntry, type ScannedEntry } from '../sql/statements/select-index-page.ts';
import { selectRowKeys, toRowKeys } from '../sql/statements/select-row-keys.ts';
import { groupBy, placeOf, type StoreContext } from '../store/context.ts';
import { requireDatastore } from '../topology/groups.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import { compareVersions, differencesOf } from './differences.ts';
import { keyOfValue, type FieldValue } from './field-value.ts';
import type { PhysicalIndex } from './index-table.ts';
import { DEPTH, wantedEntries, writeEntries, type PlacedEntry } from './maintain.ts';

/** A place where an index does not say what the cells say. */
export interface IndexProblem {
  /** `missing`: the row has no entry. `wrong`: its entry has other fields. `extra`: an entry that no cell calls for. */
  readonly kind: 'missing' | 'wrong' | 'extra';
  readonly row_key: string;
  /** Value of the shard field. */
  readonly value: FieldValue;
}

export interface Verification {
  readonly rows: number;
  readonly entries: number;
  readonly problems: readonly IndexProblem[];
  /** Entries that were written to mend them. */
  readonly mended: number;
}

export interface VerifyOptions {
  /** Mend what is found. @default false */
  readonly repair?: boolean;
  /** Writers may be at work: what differs is looked at again after so long before it counts. @default 1000 */
  readonly settleMs?: number;
}

const PAGE = 100;

/**
 * Compares an index with what the cells say: every row with its entry, and every entry with its row. Looks twice, since
 * a write under way has stored its cell a moment before its entry.
 */
export async function verifyIndex(context: StoreContext, datastore: string, index: PhysicalIndex, options: VerifyOptions = {}): Promise<Verification> {
  const topology = await requireDatastore(context.topology, datastore);
  const shards = topology.places.map((_, shard) => shard);
  const totals = { rows: 0, entries: 0, mended: 0, problems: [] as IndexProblem[] };
  const bothWays = [...groupBy(shards, (shard) => placeOf(topology, shard).group).values()].map(async (ofGroup) => {
    for (const shard of ofGroup) {
      await verifyRows(context, { datastore, index, shard, options, totals });
      await verifyEntries(context, topology, { datastore, index, shard, options, totals });
    }
  });
  await Promise.all(bothWays);
  return totals;
}

interface ShardWork {
  readonly datastore: string;
  readonly index: PhysicalIndex;
  readonly shard: number;
  readonly options: VerifyOptions;
  readonly totals: { rows: number; entries: number; mended: number; problems: IndexProblem[] };
}

/** Every row of a shard: is its entry there, and right? */
async function verifyRows(context: StoreContext, { datastore, index, shard, options, totals }: ShardWork): Promise<void> {
  const topology = await requireDatastore(context.topology, datastore);
  const client = await context.groups.client(placeOf(topology, shard).group);
  for (let after: string | undefined; ; ) {
    const keys = toRowKeys(await client.select(selectRowKeys(datastore, shard, after, PAGE), 'writer'));
    after = keys.at(-1);
    totals.rows += keys.length;
    let suspects = keys;
    for (let look = 1; suspects.length > 0; look += 1) {
      const wanted = await wantedEntries(context, datastore, [index], suspects.map((row_key) => ({ row_key, shard })), DEPTH.all);
      const { differences, unasked } = await differencesOf(context, datastore, wanted);
      if (unasked[0]) throw unasked[0].error;
      // What no query can see does not count: an entry of an older version with the same fields, a tombstone more or less.
      const visible = differences.filter(({ wanted: { row }, held }) => !row.tombstone && (!held || held.tombstone || held.values.some((value, place) => keyOfValue(value) !== keyOfValue(row.values[place] ?? null))));
      suspects = [...new Set(visible.map(({ wanted: { row } }) => row.row_key))];
      if (look === 1 && suspects.length > 0) {
        await sleep(options.settleMs ?? 1000);
        continue;
      }
      for (const { wanted: { row }, held } of visible) totals.problems.push({ kind: held && !held.tombstone ? 'wrong' : 'missing', row_key: row.row_key, value: row.values[0] ?? null });
      if (options.repair) await mend(context, datastore, differences.map((difference) => difference.wanted), totals);
      break;
    }
    if (keys.length < PAGE) return;
  }
}

/** Every entry of a shard's table: does its row call for it? */
async function verifyEntries(context: StoreContext, topology: DatastoreTopology, { datastore, index, shard, options, totals }: ShardWork): Promise<void> {
  const client = await context.groups.client(placeOf(topology, shard).group);
  for (let after: ScannedEntry | undefined; ; ) {
    const page = (await client.select(selectIndexPage(datastore, shard, index, after, PAGE), 'writer')).map((row) => toScannedEntry(row, index));
    after = page.at(-1);
    totals.entries += page.length;
    let extras = await uncalledFor(context, datastore, index, page);
    if (extras.length > 0) {
      await sleep(options.settleMs ?? 1000);
      extras = await uncalledFor(context, datastore, index, extras);
    }
    totals.problems.push(...extras.map(({ row_key, value }): IndexProblem => ({ kind: 'extra', row_key, value })));
    if (options.repair) await mend(context, datastore, await tombstones(context, topology, { datastore, index, shard }, extras), totals);
    if (page.length < PAGE) return;
  }
}

async function uncalledFor(context: StoreContext, datastore: string, index: PhysicalIndex, entries: readonly ScannedEntry[]): Promise<ScannedEntry[]> {
  const { shards } = await requireDatastore(context.topology, datastore);
  const rows = [...new Set(entries.map(({ row_key }) => row_key))].map((row_key) => ({ row_key, shard: shardOf(row_key, shards) }));
  const wanted = await wantedEntries(context, datastore, [index], rows, 1);
  const called = new Set(wanted.filter(({ row }) => !row.tombstone).map(({ row }) => `${row.row_key}/${keyOfValue(row.values[0] ?? null)}`));
  return entries.filter(({ row_key, value }) => !called.has(`${row_key}/${keyOfValue(value)}`));
}

/** A tombstone for each, of a version that wins over what is there: the row may have lost the cell it came from. */
async function tombstones(context: StoreContext, topology: DatastoreTopology, { datastore, index, shard }: Pick<ShardWork, 'datastore' | 'index' | 'shard'>, extras: readonly ScannedEntry[]): Promise<PlacedEntry[]> {
  const rows = extras.map(({ row_key }) => ({ row_key, shard: shardOf(row_key, topology.shards) }));
  const now = new Map((await wantedEntries(context, datastore, [index], rows, 1)).map(({ row }) => [row.row_key, row.version]));
  return extras.map(({ row_key, value, version }) => {
    const seen = now.get(row_key) ?? { epoch: placeOf(topology, shardOf(row_key, topology.shards)).epoch, added_id: 0 };
    return { index, shard, row: { row_key, values: [value], tombstone: true, version: compareVersions(seen, version) > 0 ? seen : version } };
  });
}

async function mend(context: StoreContext, datastore: string, entries: readonly PlacedEntry[], totals: { mended: number }): Promise<void> {
  const missed = await writeEntries(context, datastore, entries);
  if (missed[0]) throw missed[0].error;
  totals.mended += entries.length;
}
