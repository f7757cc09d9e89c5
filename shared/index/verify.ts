import { setTimeout as sleep } from 'node:timers/promises';
import { shardOf } from '../shard.ts';
import { selectIndexPage, toScannedEntry, type ScannedEntry } from './statements/select-index-page.ts';
import { selectRowKeys, toRowKeys } from '../sql/statements/select-row-keys.ts';
import { placeOf, type StoreContext } from '../access/context.ts';
import { requireDatastore } from '../access/groups.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import { compareVersions, differencesOf, type Difference } from './differences.ts';
import { keyOfValue } from './field-value.ts';
import type { PhysicalIndex } from './index-table.ts';
import { DEPTH, wantedEntries, wantedInParts, writeEntries, type PlacedEntry, type Wanted } from './maintain.ts';
import type { FieldValue } from '../definitions/field-value.ts';

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
  /** How many problems of each kind there are. */
  readonly found: Readonly<Record<IndexProblem['kind'], number>>;
  /** The first of them, up to 10,000. */
  readonly problems: readonly IndexProblem[];
  /** Entries that were written to mend them. */
  readonly mended: number;
  /** Shards of whose rows or entries some could not be compared, and why; the others were. */
  readonly failed: ReadonlyMap<number, unknown>;
}

export interface VerifyOptions {
  /** Mend what is found. @default false */
  readonly repair?: boolean;
  /** Writers may be at work: what differs is looked at again after so long before it counts. @default 1000 */
  readonly settleMs?: number;
}

const PAGE = 100;
const PROBLEMS_KEPT = 10_000;
/** Entries written with one statement, or one for each table. */
const MENDED_AT_ONCE = 500;

/**
 * Compares an index with what the cells say: every row with its entry, and every entry with its row. Looks twice, since
 * a write under way has stored its cell a moment before its entry. A table that cannot be read costs what is in it.
 */
export async function verifyIndex(
  context: StoreContext,
  datastore: string,
  index: PhysicalIndex,
  options: VerifyOptions = {},
): Promise<Verification> {
  const topology = await requireDatastore(context.topology, datastore);
  const shards = topology.places.map((_, shard) => shard);
  const totals: Totals = {
    rows: 0,
    entries: 0,
    mended: 0,
    found: { missing: 0, extra: 0, wrong: 0 },
    problems: [],
    failed: new Map(),
  };
  const bothWays = [...Map.groupBy(shards, (shard) => placeOf(topology, shard).group).values()].map(async (ofGroup) => {
    for (const shard of ofGroup) {
      const work = { context, topology, datastore, index, shard, options, totals };
      await verifyRows(work).catch((error: unknown) => fail(totals, shard, error));
      await verifyEntries(work).catch((error: unknown) => fail(totals, shard, error));
    }
  });
  await Promise.all(bothWays);
  return totals;
}

interface Totals extends Verification {
  rows: number;
  entries: number;
  mended: number;
  readonly found: Record<IndexProblem['kind'], number>;
  readonly problems: IndexProblem[];
  readonly failed: Map<number, unknown>;
}

interface ShardWork {
  readonly context: StoreContext;
  readonly topology: DatastoreTopology;
  readonly datastore: string;
  readonly index: PhysicalIndex;
  readonly shard: number;
  readonly options: VerifyOptions;
  readonly totals: Totals;
}

function fail({ failed }: Totals, shard: number, error: unknown): void {
  if (!failed.has(shard)) failed.set(shard, error);
}

function note({ found, problems }: Totals, problem: IndexProblem): void {
  found[problem.kind] += 1;
  if (problems.length < PROBLEMS_KEPT) problems.push(problem);
}

/** Every row of a shard: is its entry there, and right? */
async function verifyRows(work: ShardWork): Promise<void> {
  const { context, topology, datastore, shard, options, totals } = work;
  const client = await context.groups.client(placeOf(topology, shard).group);
  for (let after: string | undefined; ;) {
    const keys = toRowKeys(await client.select(selectRowKeys(datastore, shard, after, PAGE), 'writer'));
    after = keys.at(-1);
    totals.rows += keys.length;
    const suspects = new Set<string>();
    for await (const differences of differencesInParts(work, keys))
      for (const { wanted } of differences.filter(isVisible)) suspects.add(wanted.row.row_key);
    if (suspects.size > 0) {
      await sleep(options.settleMs ?? 1000);
      for await (const differences of differencesInParts(work, [...suspects])) {
        const visible = differences.filter(isVisible);
        for (const {
          wanted: { row },
          held,
        } of visible)
          note(totals, {
            kind: held && !held.tombstone ? 'wrong' : 'missing',
            row_key: row.row_key,
            value: row.values[0] ?? null,
          });
        const seen = new Set(visible.map(({ wanted }) => wanted.row.row_key));
        if (options.repair)
          await mend(
            work,
            differences.flatMap(({ wanted }) => (seen.has(wanted.row.row_key) ? [wanted] : [])),
          );
      }
    }
    if (keys.length < PAGE) return;
  }
}

async function* differencesInParts(
  { context, datastore, index, shard, totals }: ShardWork,
  keys: readonly string[],
): AsyncGenerator<readonly Difference[]> {
  for await (const { entries, unread } of wantedInParts(
    context,
    datastore,
    [index],
    keys.map((row_key) => ({ row_key, shard })),
    DEPTH.all,
  )) {
    for (const { error } of unread) fail(totals, shard, error);
    const { differences, unasked } = await differencesOf(context, datastore, entries);
    for (const { error } of unasked) fail(totals, shard, error);
    yield differences;
  }
}

/**
 * What no query can see does not count: an entry of an older version with the same fields, a tombstone more or less.
 */
function isVisible({ wanted: { row }, held }: Difference): boolean {
  return (
    !row.tombstone &&
    (!held ||
      held.tombstone ||
      held.values.some((value, place) => keyOfValue(value) !== keyOfValue(row.values[place] ?? null)))
  );
}

/** Every entry of a shard's table: does its row call for it? */
async function verifyEntries(work: ShardWork): Promise<void> {
  const { context, topology, datastore, index, shard, options, totals } = work;
  const client = await context.groups.client(placeOf(topology, shard).group);
  for (let after: ScannedEntry | undefined; ;) {
    const page = (await client.select(selectIndexPage(datastore, shard, index, after, PAGE), 'writer')).map((row) =>
      toScannedEntry(row, index),
    );
    after = page.at(-1);
    totals.entries += page.length;
    let extras = await uncalledFor(work, page);
    if (extras.length > 0) {
      await sleep(options.settleMs ?? 1000);
      extras = await uncalledFor(work, extras);
    }
    for (const { row_key, value } of extras) note(totals, { kind: 'extra', row_key, value });
    if (options.repair) await mend(work, await tombstones(work, extras));
    if (page.length < PAGE) return;
  }
}

/** Entries that no row calls for, as far as their rows can be read. */
async function uncalledFor(work: ShardWork, entries: readonly ScannedEntry[]): Promise<ScannedEntry[]> {
  const wanted = await wantedOf(work, entries);
  for (const { rows, error } of wanted.unread) for (const { shard } of rows) fail(work.totals, shard, error);
  const unread = new Set(wanted.unread.flatMap(({ rows }) => rows.map(({ row_key }) => row_key)));
  const called = new Set(
    wanted.entries
      .filter(({ row }) => !row.tombstone)
      .map(({ row }) => `${row.row_key}/${keyOfValue(row.values[0] ?? null)}`),
  );
  return entries.filter(({ row_key, value }) => !unread.has(row_key) && !called.has(`${row_key}/${keyOfValue(value)}`));
}

function wantedOf(
  { context, topology, datastore, index }: ShardWork,
  entries: readonly ScannedEntry[],
): Promise<Wanted> {
  const rows = [...new Set(entries.map(({ row_key }) => row_key))].map((row_key) => ({
    row_key,
    shard: shardOf(row_key, topology.shards),
  }));
  return wantedEntries(context, { datastore, indexes: [index], depth: 1 }, rows);
}

/** A tombstone for each, of a version that wins over what is there: the row may have lost the cell it came from. */
async function tombstones(work: ShardWork, extras: readonly ScannedEntry[]): Promise<PlacedEntry[]> {
  const { topology, index, shard } = work;
  const now = new Map((await wantedOf(work, extras)).entries.map(({ row }) => [row.row_key, row.version]));
  return extras.map(({ row_key, value, version }) => {
    const seen = now.get(row_key) ?? { epoch: placeOf(topology, shardOf(row_key, topology.shards)).epoch, added_id: 0 };
    return {
      index,
      shard,
      row: { row_key, values: [value], tombstone: true, version: compareVersions(seen, version) > 0 ? seen : version },
    };
  });
}

async function mend({ context, datastore, shard, totals }: ShardWork, entries: readonly PlacedEntry[]): Promise<void> {
  for (let start = 0; start < entries.length; start += MENDED_AT_ONCE) {
    const some = entries.slice(start, start + MENDED_AT_ONCE);
    const missed = await writeEntries(context, datastore, some);
    for (const { error } of missed) fail(totals, shard, error);
    totals.mended += some.length - missed.reduce((sum, one) => sum + one.entries.length, 0);
  }
}
