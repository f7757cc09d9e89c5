import { SchemalessError } from '../errors.ts';
import { differencesOf } from '../index/differences.ts';
import type { PhysicalIndex } from '../index/index-table.ts';
import { DEPTH, wantedEntries, writeEntries, type PlacedEntry } from '../index/maintain.ts';
import type { RowOfShard } from '../sql/statements/select-row-states.ts';
import { groupBy, placeOf } from '../store/context.ts';
import { requireDatastore } from '../topology/groups.ts';
import type { RepairWork } from './repair-work.ts';

/** Rows that one statement reads; each takes a branch for its epoch and one for each column. */
const ROWS_A_STATEMENT = 100;
/** Rows compared before what differs is written: the more, the more entries go into one table with one statement. */
const ROWS_AT_ONCE = 2000;
/** Tables written side by side: more than a few for each connection would wait for one too long. */
const TABLES_AT_ONCE = 50;
/** Entries of one table written with one statement. */
const ENTRIES_A_STATEMENT = 200;

export interface RowsRepaired {
  /** Entries and tombstones that were missing or wrong. */
  readonly written: number;
  /** By group that could not be reached: the rows whose entries there are not known to be right. */
  readonly missed: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * Compares the entries of some rows, which lie in shards of one group, with what their cells say **now**, and writes
 * those that differ.
 *
 * @param only the group whose entries matter @default all groups
 * @throws SqlError, SchemalessError `unavailable` when the rows themselves cannot be read
 */
export async function repairRows(work: Pick<RepairWork, 'context' | 'datastore' | 'away'>, indexes: readonly PhysicalIndex[], rows: readonly RowOfShard[], only?: string): Promise<RowsRepaired> {
  const { context, datastore, away } = work;
  const topology = await requireDatastore(context.topology, datastore);
  const groupOf = ({ shard }: PlacedEntry): string => placeOf(topology, shard).group;
  const missed = new Map<string, Set<string>>();
  const miss = (group: string, entries: readonly PlacedEntry[]): void => {
    const ofGroup = missed.get(group) ?? new Set();
    for (const { row } of entries) ofGroup.add(row.row_key);
    missed.set(group, ofGroup);
  };
  let written = 0;

  async function compare(page: readonly RowOfShard[]): Promise<readonly PlacedEntry[]> {
    const all = await wantedEntries(context, datastore, indexes, page, DEPTH.all);
    const lost = all.find(({ row }) => row.version.epoch === 0);
    if (lost) throw new SchemalessError('unavailable', `row ${lost.row.row_key} was read where its shard is not`);
    const wanted = only === undefined ? all : all.filter((entry) => groupOf(entry) === only);
    for (const entry of wanted) if (away.has(groupOf(entry))) miss(groupOf(entry), [entry]);
    const { differences, unasked } = await differencesOf(context, datastore, wanted.filter((entry) => !away.has(groupOf(entry))));
    for (const { group, entries } of unasked) {
      away.add(group);
      miss(group, entries);
    }
    return differences.map((difference) => difference.wanted);
  }

  async function write(entries: readonly PlacedEntry[]): Promise<void> {
    const failed = new Set((await writeEntries(context, datastore, entries)).map(({ group }) => group));
    for (const group of failed) {
      away.add(group);
      miss(group, entries.filter((entry) => groupOf(entry) === group));
    }
    written += entries.filter((entry) => !failed.has(groupOf(entry))).length;
  }

  const distinct = [...new Map(rows.map((row) => [row.row_key, row])).values()];
  for (const some of slices(distinct, ROWS_AT_ONCE)) {
    const differing: PlacedEntry[] = [];
    for (const page of slices(some, ROWS_A_STATEMENT)) differing.push(...(await compare(page)));
    const tables = [...groupBy(differing, ({ index, shard }) => `${index.name}_${index.hash}/${shard}`).values()];
    // A table with many entries comes in several rounds: `writeEntries` makes one statement of each table.
    const longest = Math.max(0, ...tables.map(({ length }) => length));
    for (let start = 0; start < longest; start += ENTRIES_A_STATEMENT) {
      const parts = tables.map((entries) => entries.slice(start, start + ENTRIES_A_STATEMENT)).filter(({ length }) => length > 0);
      for (const beside of slices(parts, TABLES_AT_ONCE)) await write(beside.flat());
    }
  }
  return { written, missed };
}

function slices<T>(items: readonly T[], length: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / length) }, (_, place) => items.slice(place * length, (place + 1) * length));
}
