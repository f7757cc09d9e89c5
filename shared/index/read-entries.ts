import { LIMITS, type Role } from '../cell.ts';
import type { SchemalessError } from '../errors.ts';
import type { SqlClient } from '../sql/client.ts';
import { selectEntries, toFoundEntry, type FoundEntry } from './statements/select-entries.ts';
import { unionOf } from '../sql/union.ts';
import { joinedByKey } from '../access/joined.ts';
import { askParts, partsOf } from '../access/ask-parts.ts';
import { indexTableName, type PhysicalIndex } from './index-table.ts';
import type { ParsedQuery } from './query.ts';

/** What a query asks of the group that holds its shard. */
export interface EntriesWanted {
  readonly group: string;
  readonly client: SqlClient;
  readonly read: Role;
  readonly index: PhysicalIndex;
  readonly query: ParsedQuery;
}

/** The entries that a query finds, in its order: a page of them and one more, which says whether there are more. */
export interface EntriesFound {
  readonly found: readonly FoundEntry[];
  readonly role: Role;
}

/** Statements for joined queries of an index that are under way at a time, of one group. */
const STATEMENTS_AT_ONCE = 2;

/** Two ways to read what queries find. */
export interface EntryReads {
  /** With a statement for the query. */
  alone(wanted: EntriesWanted): Promise<EntriesFound>;
  /**
   * With one for those of an index and group that come at the same time; if no node answers it, it has failed for all
   * of them.
   */
  together(wanted: EntriesWanted): Promise<EntriesFound>;
}

export function entryReads(datastore: string): EntryReads {
  async function readAll(
    some: readonly [EntriesWanted, ...EntriesWanted[]],
  ): Promise<(EntriesFound | SchemalessError)[]> {
    const [{ group, client, read, index, query: first }] = some;
    const isUnion = some.length > 1;
    const statement = unionOf(
      some.map(({ query }, item) => selectEntries(datastore, index, query, isUnion ? item : undefined)),
    );
    const { rows, roleOf, errorOf } = await askParts(client, group, read, partsOf(statement));
    if (!isUnion)
      return [errorOf(0) ?? { found: rows.map((row) => toFoundEntry(row, index, first.shardValue)), role: roleOf(0) }];

    const ofQueries = some.map(({ query }) => ({ shardValue: query.shardValue, found: [] as FoundEntry[] }));
    for (const row of rows) {
      const item = row[index.definition.fields.length];
      const ofQuery = ofQueries[Number(item)];
      if (!ofQuery) throw new Error(`a row for item ${String(item)} of ${some.length}`);
      ofQuery.found.push(toFoundEntry(row, index, ofQuery.shardValue));
    }
    // A union promises no order.
    return ofQueries.map(({ found }, item) => errorOf(item) ?? { found: found.sort(byRowKey), role: roleOf(item) });
  }

  const join = joinedByKey<EntriesWanted, EntriesFound | SchemalessError>(
    {
      atOnce: STATEMENTS_AT_ONCE,
      // As much as one query may ask for.
      fits: (taken, next) => taken.reduce((sum, { query }) => sum + query.limit, next.query.limit) <= LIMITS.listCells,
      run: readAll,
    },
    ({ group, read, index }) => `${group}/${read}/${indexTableName(index.name, index.hash)}`,
  );

  return {
    async alone(wanted) {
      const [only] = await readAll([wanted]);
      return toFound(only);
    },
    together: async (wanted) => toFound(await join(wanted)),
  };
}

function toFound(found: EntriesFound | SchemalessError | undefined): EntriesFound {
  if (found && 'found' in found) return found;
  throw found ?? new Error('an answer without its only query');
}

/**
 * Whether a query reads no more entries than it answers: those of its shard value, or of one value of one more field,
 * lie in a key in the order of their rows. What it is joined with does not wait for it then.
 */
export function isBounded({ filters, order }: ParsedQuery): boolean {
  return order === undefined && filters.length <= 1 && filters.every(({ operator }) => operator === 'eq');
}

/** The order of those queries. Row keys sort as their bytes do. */
function byRowKey(one: FoundEntry, other: FoundEntry): number {
  return one.row_key < other.row_key ? -1 : 1;
}
