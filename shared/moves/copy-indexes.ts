import { createIndexTable, indexTableName, type PhysicalIndex } from '../index/index-table.ts';
import { toBytes } from '../sql/cell-rows.ts';
import type { SqlClient } from '../sql/client.ts';
import { quoteName } from '../sql/names.ts';
import {
  deleteRawEntry,
  keyOfEntry,
  putRawEntries,
  selectRawEntries,
  selectRawKeys,
  versionOfEntry,
  type EntryKey,
  type EntryTable,
  type RawEntry,
} from './statements/raw-entries.ts';

const PAGE_ENTRIES = 500;
const KEYS_AT_ONCE = 2000;
/** Bound values of a statement: over the RDS Data API each of them takes room in its text. */
const MOST_VALUES = 5000;

function pageOf({ fields }: EntryTable): number {
  return Math.min(PAGE_ENTRIES, Math.floor(MOST_VALUES / (fields + 4)));
}

/** The tables of an index on two groups, or in two databases of one. */
interface EntryTables {
  readonly from: SqlClient;
  readonly fromDatabase: string;
  readonly to: SqlClient;
  readonly toDatabase: string;
}

export async function makeIndexTable(client: SqlClient, database: string, index: PhysicalIndex): Promise<void> {
  const sql = createIndexTable(quoteName(database), indexTableName(index.name, index.hash), index.definition);
  await client.change({ sql, parameters: [] });
}

/** Of a table and its counterpart. */
interface Pair {
  readonly source: EntryTable;
  readonly target: EntryTable;
}

function pairOf({ fromDatabase, toDatabase }: EntryTables, { name, hash, definition }: PhysicalIndex): Pair {
  const [table, fields] = [indexTableName(name, hash), definition.fields.length];
  return { source: { database: fromDatabase, table, fields }, target: { database: toDatabase, table, fields } };
}

/**
 * Brings the entries of one table to another, each only over one of a lower version, page by page. `begin`: behind
 * which key to begin @default at the first one. `mayGoOn`: asked before each page. Returns where to go on; undefined
 * once all are there.
 */
export async function bringEntries(
  tables: EntryTables,
  index: PhysicalIndex,
  begin: EntryKey | undefined,
  mayGoOn: () => boolean,
): Promise<EntryKey | undefined> {
  const { from, to } = tables;
  const { source, target } = pairOf(tables, index);
  const page = pageOf(source);
  let after = begin;
  do {
    const rows = await from.select(selectRawEntries(source, after, page), 'writer');
    const last = rows.at(-1);
    if (!last) return undefined;
    const end = keyOfEntry(last, source.fields);
    // The other one may have more: then what it has is written over with the same.
    const there = await to.select(selectRawKeys(target, after, end, page), 'writer');
    const missing = missingOf(rows, there, source.fields);
    if (missing.length > 0) await to.change(putRawEntries(target, missing));
    if (rows.length < page) return undefined;
    after = end;
  } while (mayGoOn());
  return after;
}

/**
 * Deletes from a table what its counterpart does not have any more: what was purged there. What comes to both meanwhile
 * may be taken for that, so it is for copies alone, before what the shard has is brought to them.
 */
export async function pruneEntries(
  tables: EntryTables,
  index: PhysicalIndex,
  begin: EntryKey | undefined,
  mayGoOn: () => boolean,
): Promise<EntryKey | undefined> {
  const { from, to } = tables;
  const { source, target } = pairOf(tables, index);
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

/** Rows that are not there, or in a lower version. */
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
