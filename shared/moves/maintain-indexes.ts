import type { DynamoTable } from '../dynamo/table.ts';
import { noteVerified } from '../index/repair/verified-epochs.ts';
import { indexTableName, type PhysicalIndex } from '../index/index-table.ts';
import { copyDatabase, shardDatabase } from '../address.ts';
import type { MovingClients } from './copy-log.ts';
import type { EntryCursor, Move, MoveSettings } from './move-item.ts';
import {
  type EntryKey,
  deleteRawEntry,
  keyOfEntry,
  putRawEntries,
  selectRawEntries,
  selectRawKeys,
  versionOfEntry,
  type EntryTable,
  type RawEntry,
} from './statements/raw-entries.ts';
import { toBytes } from '../sql/cell-rows.ts';
import type { SqlClient } from '../sql/client.ts';

interface MaintainedIndexes extends Pick<MoveSettings, 'announcedMs' | 'turnMs'> {
  readonly clients: MovingClients;
  readonly indexes: readonly PhysicalIndex[];
  /** The copy is to become the shard soon. */
  readonly isWanted: boolean;
  readonly signal: AbortSignal;
}

/** How long copied entries count as current. */
const INDEXED_FOR_MS = 60_000;

const tableOf = ({ name, hash }: PhysicalIndex): string => indexTableName(name, hash);

/** Returns whether the copy recently had all entries: later ones are written to both. */
export function hasAllIndexes({ indexed, indexed_at }: Move, indexes: readonly PhysicalIndex[]): boolean {
  return (
    indexes.length === 0 ||
    (Date.now() - indexed_at < INDEXED_FOR_MS && indexes.every((index) => indexed.includes(tableOf(index))))
  );
}

/**
 * Copies the entries of a shard's index tables to those of its copy, for a turn at most. After a switch it first copies
 * entries that writers with the former topology wrote to the former shard alone.
 *
 * Writers that know of the copy write entries to both, but no response depends on the copy's. Entries that it lacks are
 * added here, and after a switch.
 */
export async function maintainIndexes(given: Move, kept: MaintainedIndexes): Promise<Move> {
  const { announcedMs = 3000, turnMs = 1000, indexes, clients, isWanted } = kept;
  if (Date.now() - given.announced_at < announcedMs) return given;
  const isOld = given.indexed_at > 0 && Date.now() - given.indexed_at >= INDEXED_FOR_MS;
  let move: Move = isOld && isWanted ? { ...given, indexed: [], indexed_at: 0, cursor: null } : given;
  const until = performance.now() + turnMs;
  const mayGoOn = (): boolean => !kept.signal.aborted && performance.now() < until;
  const [shard, copy] = [shardDatabase(move.datastore, move.shard), copyDatabase(move.datastore, move.shard)];
  const there = { from: clients.source, fromDatabase: shard, to: clients.target, toDatabase: copy };
  const back = { from: clients.target, fromDatabase: copy, to: clients.source, toDatabase: shard };

  // A dropped index needs no entries.
  const tables = new Set(indexes.map(tableOf));
  if (!move.owed.every((table) => tables.has(table)))
    move = { ...move, owed: move.owed.filter((table) => tables.has(table)) };
  /** Returns whether the work is done; if not, saves where it continues. */
  const isDone = async (work: typeof bringEntries, pair: EntryTables, task: string): Promise<boolean> => {
    const next = await work(pair, beginOf(move, task), mayGoOn);
    move = { ...move, cursor: next ? cursorOf(task, next) : null };
    return next === undefined;
  };
  for (const index of indexes) {
    const table = tableOf(index);
    if (!move.owed.includes(table)) continue;
    if (!(await isDone(bringEntries, pairOf(back, index), `owed/${table}`))) return move;
    move = { ...move, owed: move.owed.filter((one) => one !== table) };
  }
  for (const index of indexes) {
    const [table, pair] = [tableOf(index), pairOf(there, index)];
    if (move.indexed.includes(table)) continue;
    const isPruned = move.cursor?.task === `brought/${table}`;
    if (!isPruned && !(await isDone(pruneEntries, pair, `pruned/${table}`))) return move;
    if (!(await isDone(bringEntries, pair, `brought/${table}`))) return move;
    move = { ...move, indexed: [...move.indexed, table], indexed_at: Date.now() };
  }
  return move;
}

/** How long after the switch entries are copied from the former shard: half the age of purged tombstones. */
const OWED_FOR_MS = 12 * 3_600_000;

/** Drops debts that are too old, and requests a verification: the tombstone of an owed entry may be purged. */
export async function withoutOldDebts(stateTable: DynamoTable, move: Move): Promise<Move> {
  if (move.owed.length === 0 || Date.now() - move.closed_at < OWED_FOR_MS) return move;
  await noteVerified(stateTable, move.datastore, move.shard, move.epoch - 1);
  return { ...move, owed: [], cursor: null };
}

function beginOf({ cursor }: Move, task: string): EntryKey | undefined {
  if (cursor?.task !== task) return undefined;
  const { bytes, text = '', row_key } = cursor;
  return {
    f0: bytes === undefined ? text : Buffer.from(bytes, 'base64'),
    row_key: Buffer.from(row_key, 'base64'),
  };
}

function cursorOf(task: string, { f0, row_key }: EntryKey): EntryCursor {
  return {
    task,
    ...(f0 instanceof Uint8Array ? { bytes: Buffer.from(f0).toString('base64') } : { text: String(f0) }),
    row_key: Buffer.from(row_key).toString('base64'),
  };
}

const PAGE_ENTRIES = 500;
const KEYS_AT_ONCE = 2000;
/** Bound values of a statement: over the RDS Data API each of them takes room in its text. */
const MOST_VALUES = 5000;

function pageOf({ fields }: EntryTable): number {
  return Math.min(PAGE_ENTRIES, Math.floor(MOST_VALUES / (fields + 4)));
}

/** The databases of a shard and its copy, on two groups or on one. */
interface Databases {
  readonly from: SqlClient;
  readonly fromDatabase: string;
  readonly to: SqlClient;
  readonly toDatabase: string;
}

/** A table of an index, and its counterpart. */
interface EntryTables extends Pick<Databases, 'from' | 'to'> {
  readonly source: EntryTable;
  readonly target: EntryTable;
}

function pairOf({ from, fromDatabase, to, toDatabase }: Databases, index: PhysicalIndex): EntryTables {
  const of = { table: tableOf(index), fields: index.definition.fields.length };
  return { from, to, source: { database: fromDatabase, ...of }, target: { database: toDatabase, ...of } };
}

/**
 * Copies the entries of one table to another, each only over one of a lower version, page by page. `begin`: the key to
 * begin after @default at the first one. `mayGoOn`: asked before each page. Returns the key to continue after;
 * undefined once all are there.
 */
async function bringEntries(
  { from, to, source, target }: EntryTables,
  begin: EntryKey | undefined,
  mayGoOn: () => boolean,
): Promise<EntryKey | undefined> {
  const page = pageOf(source);
  let after = begin;
  do {
    const rows = await from.select(selectRawEntries(source, after, page), 'writer');
    const last = rows.at(-1);
    if (!last) return undefined;
    const end = keyOfEntry(last, source.fields);
    // The target may have more entries in the range: then some are overwritten with the same.
    const there = await to.select(selectRawKeys(target, after, end, page), 'writer');
    const missing = missingOf(rows, there, source.fields);
    if (missing.length > 0) await to.change(putRawEntries(target, missing));
    if (rows.length < page) return undefined;
    after = end;
  } while (mayGoOn());
  return after;
}

/**
 * Deletes entries that were purged from the table's counterpart. An entry that is being written to both may seem purged
 * too, so this runs only for copies, before the shard's entries are copied to them.
 */
async function pruneEntries(
  { from, to, source, target }: EntryTables,
  begin: EntryKey | undefined,
  mayGoOn: () => boolean,
): Promise<EntryKey | undefined> {
  const page = pageOf(source);
  let after = begin;
  do {
    const known = await to.select(selectRawKeys(target, after, undefined, page), 'writer');
    const last = known.at(-1);
    if (!last) return undefined;
    const end: EntryKey = { f0: last[0] ?? null, row_key: toBytes(last[1]) };
    const gone = new Map(known.map((row) => [nameOf(row[0], row[1]), row]));
    // The shard may have many newer entries in this range.
    for (let behind = after, isMore = true; isMore && gone.size > 0;) {
      const kept = await from.select(selectRawKeys(source, behind, end, KEYS_AT_ONCE), 'writer');
      for (const row of kept) gone.delete(nameOf(row[0], row[1]));
      const lastKept = kept.at(-1);
      isMore = kept.length === KEYS_AT_ONCE && lastKept !== undefined;
      if (lastKept) behind = { f0: lastKept[0] ?? null, row_key: toBytes(lastKept[1]) };
    }
    for (const row of gone.values()) await to.change(deleteRawEntry(target, row));
    if (known.length < page) return undefined;
    after = end;
  } while (mayGoOn());
  return after;
}

/** Returns rows that the other table lacks, or has in a lower version. */
function missingOf(rows: readonly RawEntry[], there: readonly RawEntry[], fields: number): RawEntry[] {
  const versions = new Map(there.map((row) => [nameOf(row[0], row[1]), versionOfEntry(row, 2)]));
  return rows.filter((row) => {
    const known = versions.get(nameOf(row[0], row[fields]));
    const [epoch, added_id] = versionOfEntry(row, fields + 1);
    return !known || known[0] < epoch || (known[0] === epoch && known[1] < added_id);
  });
}

function nameOf(f0: RawEntry[number] | undefined, row_key: RawEntry[number] | undefined): string {
  const value = f0 instanceof Uint8Array ? Buffer.from(f0).toString('hex') : String(f0);
  return `${value}/${Buffer.from(toBytes(row_key)).toString('hex')}`;
}
