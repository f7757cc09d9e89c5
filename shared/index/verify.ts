import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../cell.ts';
import { shardOf } from '../address.ts';
import { selectIndexPage, toScannedEntry, type EntryKey, type ScannedEntry } from './statements/select-index-page.ts';
import { selectRowKeys, toRowKeys } from '../sql/statements/select-row-keys.ts';
import type { StoreContext } from '../access/context.ts';
import { homeOf, requireDatastore } from '../access/groups.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import { compareVersions, differencesOf, type Difference } from './differences.ts';
import type { PhysicalIndex } from './index-table.ts';
import { DEPTH, wantedEntries, wantedInParts, type EntryOfShard, type Wanted } from './wanted-entries.ts';
import { writeEntries } from './write-entries.ts';
import { type FieldValue, keyOfValue } from '../definitions/field-value.ts';

export interface IndexProblem {
  /** `missing`: no entry. `wrong`: other fields. `extra`: an entry that no cell calls for. */
  readonly kind: 'missing' | 'wrong' | 'extra';
  readonly row_key: string;
  readonly value: FieldValue;
}

export interface Verification {
  rows: number;
  entries: number;
  repaired: number;
  readonly found: Record<IndexProblem['kind'], number>;
  readonly problems: IndexProblem[];
  readonly failed: Map<number, unknown>;
  /** Shards to compare again. */
  readonly again: Set<number>;
}

/** How far one group has come: shards in order, of each the rows, then the entries. */
export interface VerifyLocation {
  readonly shard: number;
  readonly part: 'rows' | 'entries';
  /** The last one compared. @default none of this part */
  readonly after?: Json;
}

export interface VerifyOptions {
  readonly repair?: boolean;
  /** Differences are compared again after this time, since writers may be at work. @default 1000 */
  readonly settleMs?: number;
  readonly shards?: readonly number[];
  /** The location to continue from, by group. @default the beginning */
  readonly from?: Readonly<Record<string, VerifyLocation>>;
  /** Called page by page with the progress, and the shards to compare again. */
  readonly passed?: (group: string, location: VerifyLocation, again: ReadonlySet<number>) => void;
  readonly signal?: AbortSignal;
}

const PAGE = 100;
const PROBLEMS_KEPT = 10_000;
const REPAIRED_AT_ONCE = 500;

/**
 * Compares an index with the cells, both ways: every row with its entry, and every entry with its row. Reads twice,
 * since a write stores its cell a moment before its entry. A table that cannot be read costs its own content.
 */
export async function verifyIndex(
  context: StoreContext,
  datastore: string,
  index: PhysicalIndex,
  options: VerifyOptions = {},
): Promise<Verification> {
  const topology = await requireDatastore(context.topology, datastore);
  const shards = options.shards ?? topology.homes.map((_, shard) => shard);
  const totals: Verification = {
    rows: 0,
    entries: 0,
    repaired: 0,
    found: { missing: 0, extra: 0, wrong: 0 },
    problems: [],
    failed: new Map(),
    again: new Set(),
  };
  const bothWays = [...Map.groupBy(shards, (shard) => homeOf(topology, shard).group)].map(async ([group, ofGroup]) => {
    const from = options.from?.[group] ?? { shard: 0, part: 'rows' };
    for (const shard of ofGroup.toSorted((one, other) => one - other)) {
      if (shard < from.shard) continue;
      const begin: VerifyLocation = shard === from.shard ? from : { shard, part: 'rows' };
      const work = { context, topology, datastore, index, group, shard, options, totals };
      if (begin.part === 'rows') await verifyRows(work, begin.after).catch((error: unknown) => fail(work, error));
      const after = begin.part === 'entries' ? begin.after : undefined;
      await verifyEntries(work, after).catch((error: unknown) => fail(work, error));
      if (isOver(work)) return;
      options.passed?.(group, { shard: shard + 1, part: 'rows' }, totals.again);
    }
  });
  await Promise.all(bothWays);
  return totals;
}

interface ShardWork {
  readonly context: StoreContext;
  readonly topology: DatastoreTopology;
  readonly datastore: string;
  readonly index: PhysicalIndex;
  readonly group: string;
  readonly shard: number;
  readonly options: VerifyOptions;
  readonly totals: Verification;
}

function fail({ totals: { failed, again }, shard: own }: ShardWork, error: unknown, shard = own): void {
  if (!failed.has(shard)) failed.set(shard, error);
  again.add(own);
}

function isOver({ options: { signal } }: ShardWork): boolean {
  return signal?.aborted === true;
}

function note({ found, problems }: Verification, problem: IndexProblem): void {
  found[problem.kind] += 1;
  if (problems.length < PROBLEMS_KEPT) problems.push(problem);
}

async function verifyRows(work: ShardWork, from?: Json): Promise<void> {
  const { context, datastore, group, shard, options, totals } = work;
  const client = await context.groups.client(group);
  for (let after = from === undefined ? undefined : String(from); !isOver(work);) {
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
        for (const { wanted, held } of visible) {
          const kind = held && !held.tombstone ? 'wrong' : 'missing';
          note(totals, { kind, row_key: wanted.row.row_key, value: wanted.row.values[0] ?? null });
        }
        const seen = new Set(visible.map(({ wanted }) => wanted.row.row_key));
        const entries = differences.flatMap(({ wanted }) => (seen.has(wanted.row.row_key) ? [wanted] : []));
        if (options.repair) await repair(work, entries);
      }
    }
    if (keys.length < PAGE) return;
    options.passed?.(group, { shard, part: 'rows', after: after ?? '' }, totals.again);
  }
}

async function* differencesInParts(work: ShardWork, keys: readonly string[]): AsyncGenerator<readonly Difference[]> {
  const { context, datastore, index, shard } = work;
  const wanted = { datastore, indexes: [index], depth: DEPTH.all };
  const rows = keys.map((row_key) => ({ row_key, shard }));
  for await (const { entries, unread } of wantedInParts(context, wanted, rows)) {
    for (const { error } of unread) fail(work, error);
    const { differences, unasked } = await differencesOf(context, datastore, entries);
    for (const { error } of unasked) fail(work, error);
    yield differences;
  }
}

/** Ignores what no query sees: an older version with the same fields, a tombstone more or less. */
function isVisible({ wanted: { row }, held }: Difference): boolean {
  return (
    !row.tombstone &&
    (!held ||
      held.tombstone ||
      held.values.some((value, position) => keyOfValue(value) !== keyOfValue(row.values[position] ?? null)))
  );
}

async function verifyEntries(work: ShardWork, from?: Json): Promise<void> {
  const { context, datastore, index, group, shard, options, totals } = work;
  const client = await context.groups.client(group);
  for (let after = toKey(from); !isOver(work);) {
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
    if (options.repair) await repair(work, await tombstones(work, extras));
    if (page.length < PAGE) return;
    if (after) options.passed?.(group, { shard, part: 'entries', after: [after.value, after.row_key] }, totals.again);
  }
}

function toKey(after?: Json): EntryKey | undefined {
  if (!Array.isArray(after)) return undefined;
  const [value, rowKey] = after as unknown as readonly [FieldValue, string];
  return { value, row_key: rowKey };
}

/** Returns entries that no row calls for, as far as rows can be read. */
async function uncalledFor(work: ShardWork, entries: readonly ScannedEntry[]): Promise<ScannedEntry[]> {
  const wanted = await wantedOf(work, entries);
  for (const { rows, error } of wanted.unread) for (const { shard } of rows) fail(work, error, shard);
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

/** Makes tombstones of versions that win: the row may have lost the cell of the entry. */
async function tombstones(work: ShardWork, extras: readonly ScannedEntry[]): Promise<EntryOfShard[]> {
  const { topology, index, shard } = work;
  const now = new Map((await wantedOf(work, extras)).entries.map(({ row }) => [row.row_key, row.version]));
  return extras.map(({ row_key, value, version }) => {
    const seen = now.get(row_key) ?? { epoch: homeOf(topology, shardOf(row_key, topology.shards)).epoch, added_id: 0 };
    return {
      index,
      shard,
      row: { row_key, values: [value], tombstone: true, version: compareVersions(seen, version) > 0 ? seen : version },
    };
  });
}

async function repair(work: ShardWork, entries: readonly EntryOfShard[]): Promise<void> {
  const { context, datastore, totals } = work;
  for (let start = 0; start < entries.length; start += REPAIRED_AT_ONCE) {
    const some = entries.slice(start, start + REPAIRED_AT_ONCE);
    const missed = await writeEntries(context, datastore, some);
    for (const { error } of missed) fail(work, error);
    totals.repaired += some.length - missed.reduce((sum, one) => sum + one.entries.length, 0);
  }
}
