import { JSON_GROWTH } from '../body/codec.ts';
import { jsonBytes } from '../body/measure.ts';
import { LIMITS, type Role } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { shardOf } from '../shard.ts';
import type { Statement } from '../sql/client.ts';
import { unionOf } from '../sql/union.ts';
import { selectCells } from '../sql/statements/select-cells.ts';
import { selectRow } from '../sql/statements/select-row.ts';
import { selectEntries, type FoundEntry } from '../sql/statements/select-entries.ts';
import { toText, type StoredCell } from '../sql/cell-rows.ts';
import { byGroup, groupBy, placeOf, type StoreContext } from '../store/context.ts';
import { answerRoom, type Sized } from '../store/answer-room.ts';
import { decodeOrMark, type DecodedCell } from '../store/decode.ts';
import { parseRead } from '../store/read-cells.ts';
import { askEither, pageBytes, readGroup } from '../store/read-group.ts';
import { requireDatastore } from '../topology/groups.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import { encodeCursor } from './cursor.ts';
import { STRING_BYTES, type FieldValue } from './field-value.ts';
import { liveIndex } from './live-index.ts';
import { isBounded, type EntryReads } from './read-entries.ts';
import { parseQuery, type IndexAnswer, type IndexEntry, type IndexQuery, type ParsedQuery } from './query.ts';
import type { PhysicalIndex } from './index-table.ts';

/** What an entry adds to an answer besides its values. */
const ENTRY_ENVELOPE_BYTES = 120;

/**
 * Answers a query: one statement to one shard, and where columns are asked for one more per group of the rows found.
 *
 * @throws SchemalessError `unknown_index`; `index_building` with its progress; `unavailable`
 */
export async function runQuery(context: StoreContext, datastore: string, reads: EntryReads, query: IndexQuery): Promise<IndexAnswer> {
  const topology = await requireDatastore(context.topology, datastore);
  const index = await liveIndex(context, datastore, query.index);
  const wanted = parseQuery(query, index.definition, topology.shards);
  const read = parseRead(query.read);
  const { group } = placeOf(topology, wanted.shard);
  const client = await context.groups.client(group);
  const parsed = { ...wanted, limit: Math.min(wanted.limit, entriesOfPage(index, pageBytes(client))) };
  // What is explained is the statement that ran.
  const mayJoin = query.together === true && query.explain !== true && isBounded(parsed);
  const readEntries = mayJoin ? reads.together : reads.alone;
  const { role, found: all } = await context.admit(group, () => readEntries({ group, client, read, index, query: parsed }));
  const found = all.slice(0, parsed.limit);

  const cells = parsed.columns === undefined ? undefined : await fetchCells(context, { datastore, topology, found, columns: parsed.columns, read });
  const entries = untilFull(found, index, parsed, cells);
  const last = found[entries.length - 1];
  const more = entries.length < all.length;
  return {
    entries,
    next: last && more ? encodeCursor({ value: parsed.order ? (last.values[parsed.order.place] ?? null) : null, row_key: last.row_key }, parsed.identity()) : null,
    served_by: role,
    stale: role === 'reader',
    ...(query.explain === true ? { explain: await explain(context, group, parsed.shard, selectEntries(datastore, index, parsed)) } : {}),
  };
}

/** As many entries as fit in any case. */
function entriesOfPage({ definition }: PhysicalIndex, bytes: number): number {
  return Math.floor(bytes / (ENTRY_ENVELOPE_BYTES + definition.fields.length * STRING_BYTES));
}

const NO_CELLS: readonly DecodedCell[] = [];

type RowCells = readonly DecodedCell[] | { readonly error: SchemalessError };

function untilFull(found: readonly FoundEntry[], index: PhysicalIndex, { fields }: ParsedQuery, cells: ReadonlyMap<string, RowCells> | undefined): IndexEntry[] {
  const names = fields.map((place) => index.definition.fields[place]?.field ?? '');
  const atMostBytes = ENTRY_ENVELOPE_BYTES + names.reduce((sum, name) => sum + (name.length + STRING_BYTES + 1) * JSON_GROWTH, 0);
  const choose = (values: readonly FieldValue[]): Record<string, FieldValue> => {
    const chosen: Record<string, FieldValue> = {};
    for (let position = 0; position < fields.length; position += 1) chosen[names[position] ?? ''] = values[fields[position] ?? 0] ?? null;
    return chosen;
  };
  if (!cells && found.length * atMostBytes <= LIMITS.answerBytes) return found.map(({ row_key, values }) => ({ row_key, fields: choose(values) }));

  const room = answerRoom();
  const entries: IndexEntry[] = [];
  for (const { row_key, values } of found) {
    const chosen = choose(values);
    const ofRow = cells && (cells.get(row_key) ?? []);
    const decoded = ofRow === undefined || 'error' in ofRow ? NO_CELLS : ofRow;
    const size: Sized = {
      atMostBytes: decoded.reduce((sum, cell) => sum + cell.atMostBytes, atMostBytes),
      measure: () => decoded.reduce((sum, cell) => sum + cell.measure(), ENTRY_ENVELOPE_BYTES + jsonBytes(chosen)),
    };
    if (!room.take(size, entries.length === 0)) break;
    entries.push(ofRow === undefined ? { row_key, fields: chosen } : { row_key, fields: chosen, cells: 'error' in ofRow ? ofRow : ofRow.map(({ cell }) => cell) });
  }
  return entries;
}

/** The latest cells of columns of the rows found, one statement a group; a group that is down fails its rows alone. */
async function fetchCells(
  context: StoreContext,
  { datastore, topology, found, columns, read }: { readonly datastore: string; readonly topology: DatastoreTopology; readonly found: readonly FoundEntry[]; readonly columns: readonly string[] | '*'; readonly read: Role },
): Promise<ReadonlyMap<string, RowCells>> {
  const answers = new Map<string, RowCells>();
  const rows = found.map(({ row_key }) => ({ row_key, shard: shardOf(row_key, topology.shards) }));
  await Promise.all(
    [...byGroup(topology, rows)].map(async ([group, ofGroup]) => {
      try {
        const client = await context.groups.client(group);
        const bytes = pageBytes(client);
        const { items } = await context.admit(group, () => readGroup(client, group, { statement: () => selectColumns(datastore, ofGroup, columns, bytes), minima: itemsOf(ofGroup, columns).map(() => undefined), read }));
        const wanted = itemsOf(ofGroup, columns);
        for (const [row_key, places] of groupBy(wanted.map((row, place) => ({ ...row, place })), (row) => row.row_key)) {
          const stored = places.flatMap(({ place }) => items[place]?.cells ?? []);
          answers.set(row_key, columns === '*' && isCut(stored, bytes) ? { error: tooManyCells(row_key) } : stored.map(decodeOrMark));
        }
      } catch (error) {
        if (!(error instanceof SchemalessError)) throw error;
        for (const { row_key } of ofGroup) answers.set(row_key, { error });
      }
    }),
  );
  return answers;
}

/** A row of which there is more than a page. */
function isCut(stored: readonly StoredCell[], bytes: number): boolean {
  return stored.length > LIMITS.listCells || stored.reduce((sum, { body }) => sum + (body?.length ?? 0), 0) >= bytes;
}

function tooManyCells(row_key: string): SchemalessError {
  return new SchemalessError('answer_too_large', `row ${row_key} has more cells than fit: ask for some of its columns, or read it by itself`);
}

interface RowPlace {
  readonly row_key: string;
  readonly shard: number;
}

/** The items of the statement below: a row each for all columns, else a row and column each. */
function itemsOf(rows: readonly RowPlace[], columns: readonly string[] | '*'): RowPlace[] {
  return columns === '*' ? [...rows] : rows.flatMap((row) => columns.map(() => row));
}

function selectColumns(datastore: string, rows: readonly RowPlace[], columns: readonly string[] | '*', bytes: number): Statement {
  if (columns !== '*') {
    return selectCells(datastore, rows.flatMap(({ row_key, shard }) => columns.map((column_name) => ({ key: { row_key, column_name }, shard }))), false);
  }
  const range = { columns: undefined, after: undefined, limit: LIMITS.listCells + 1, bytes };
  return unionOf(rows.map(({ row_key, shard }, item) => selectRow(datastore, shard, { ...range, row_key }, false, item)));
}

async function explain(context: StoreContext, group: string, shard: number, statement: Statement) {
  const client = await context.groups.client(group);
  const { rows } = await askEither(client, group, 'writer', { ...statement, sql: `EXPLAIN FORMAT=JSON ${statement.sql}` });
  return { shard, group, statement: statement.sql, plan: JSON.parse(toText(rows[0]?.[0])) as unknown };
}
