import { JSON_GROWTH } from '../body/codec.ts';
import { jsonBytes } from '../body/measure.ts';
import { type Role, LIMITS } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { shardOf, parseRead } from '../address.ts';
import type { Statement, SqlClient } from '../sql/client.ts';
import { selectEntries, type FoundEntry, toFoundEntry } from './statements/select-entries.ts';
import { toText } from '../sql/cell-rows.ts';
import type { StoreContext } from '../access/context.ts';
import type { AnswerRoom, Sized } from '../contract/answer-room.ts';
import { type DecodedCell, answerRoom, noRoomLeft } from '../access/decode.ts';
import { askEither, pageBytes, askParts, partsOf } from '../access/ask-parts.ts';
import { readWanted, wantingCells, wantingRows, type WantedCells } from '../access/wanted-cells.ts';
import { requireDatastore, homeOf } from '../access/groups.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import { encodeCursor } from './cursor.ts';
import type { IndexAnswer, IndexEntry, IndexQuery } from '../contract/index-query.ts';
import { parseForIndex, type IndexesAsked, type ParsedQuery } from './query.ts';
import { type PhysicalIndex, indexTableName } from './index-table.ts';
import { STRING_BYTES, type FieldValue } from '../definitions/field-value.ts';
import { unionOf } from '../sql/union.ts';
import { batchedByKey } from '../batched.ts';

/** Bytes of an entry in an answer besides its values. */
const ENTRY_ENVELOPE_BYTES = 120;

/** Answers a query: one statement to a shard, and one a group for columns. Throws as `query` does. */
export async function runQuery(
  context: StoreContext,
  asked: IndexesAsked,
  readEntries: EntryReads,
  query: IndexQuery,
): Promise<IndexAnswer> {
  const { datastore } = asked;
  const topology = await requireDatastore(context.topology, datastore);
  const { index, parsed: wanted } = await parseForIndex(asked, query, topology.shards);
  const read = parseRead(query.read);
  const { group } = homeOf(topology, wanted.shard);
  const client = await context.groups.client(group);
  const parsed = { ...wanted, limit: Math.min(wanted.limit, entriesOfPage(index, pageBytes(client))) };
  // The explained statement is the one that ran.
  const mayJoin = query.batched === true && query.explain !== true && isBounded(parsed);
  const { role, found: all } = await context.admit(group, () =>
    readEntries({ group, client, read, index, query: parsed }, mayJoin),
  );
  const found = all.slice(0, parsed.limit);

  const shape = shapeOf(index, parsed);
  const room = query.room ?? answerRoom();
  const entries =
    parsed.columns === undefined
      ? untilFull(found, shape, room)
      : await withCells(
          { context, topology, read, packed: query.packed, room, anyway: query.room === undefined },
          found,
          parsed.columns,
          shape,
        );
  if (query.room && entries.length < found.length) throw noRoomLeft();
  const last = found[entries.length - 1];
  const more = entries.length < all.length;
  return {
    entries,
    next:
      last && more
        ? encodeCursor(
            { value: parsed.order ? (last.values[parsed.order.position] ?? null) : null, row_key: last.row_key },
            parsed.identity(),
          )
        : null,
    served_by: role,
    stale: role === 'reader',
    ...(query.explain === true
      ? { explain: await explain(context, group, parsed.shard, selectEntries(datastore, index, parsed)) }
      : {}),
  };
}

/** Returns how many entries fit in any case. */
function entriesOfPage({ definition }: PhysicalIndex, bytes: number): number {
  return Math.floor(bytes / (ENTRY_ENVELOPE_BYTES + definition.fields.length * STRING_BYTES));
}

/** Cells asked for at a time: nothing is fetched behind a full answer. */
const CELLS_AT_ONCE = 1000;
const WHOLE_ROWS_AT_ONCE = 100;

interface Bringing {
  readonly context: StoreContext;
  readonly topology: DatastoreTopology;
  readonly read: Role;
  readonly packed: boolean | undefined;
  readonly room: AnswerRoom;
  /** The room is this query's alone, so the first entry comes whatever its size. */
  readonly anyway: boolean;
}

function untilFull(found: readonly FoundEntry[], shape: EntryShape, room: AnswerRoom): IndexEntry[] {
  const { atMostBytes, choose } = shape;
  const all = found.length * atMostBytes;
  if (all <= room.left() && room.take({ atMostBytes: all, measure: () => all }))
    return found.map(({ row_key, values }) => ({ row_key, fields: choose(values) }));
  const entries: IndexEntry[] = [];
  for (const { row_key, values } of found) {
    const entry = { row_key, fields: choose(values) };
    if (
      !room.take({ atMostBytes, measure: () => ENTRY_ENVELOPE_BYTES + jsonBytes(entry.fields) }, entries.length === 0)
    )
      break;
    entries.push(entry);
  }
  return entries;
}

interface EntryShape {
  readonly atMostBytes: number;
  readonly choose: (values: readonly FieldValue[]) => Record<string, FieldValue>;
}

function shapeOf(index: PhysicalIndex, { fields }: ParsedQuery): EntryShape {
  const names = fields.map((position) => index.definition.fields[position]?.field ?? '');
  const isSealed = fields.map((position) => index.definition.fields[position]?.sealed === true);
  return {
    atMostBytes:
      ENTRY_ENVELOPE_BYTES + names.reduce((sum, name) => sum + (name.length + STRING_BYTES + 1) * JSON_GROWTH, 0),
    choose(values) {
      const chosen: Record<string, FieldValue> = {};
      for (let position = 0; position < fields.length; position += 1)
        chosen[names[position] ?? ''] = isSealed[position] ? null : (values[fields[position] ?? 0] ?? null);
      return chosen;
    },
  };
}

async function withCells(
  bringing: Bringing,
  found: readonly FoundEntry[],
  columns: readonly string[] | '*',
  shape: EntryShape,
): Promise<IndexEntry[]> {
  const { room, topology } = bringing;
  const entries: IndexEntry[] = [];
  const each = columns === '*' ? 1 : columns.length;
  const atOnce = columns === '*' ? WHOLE_ROWS_AT_ONCE : Math.max(1, Math.floor(CELLS_AT_ONCE / each));
  for (let from = 0; from < found.length; from += atOnce) {
    const page = found.slice(from, from + atOnce);
    const rows = page.map(({ row_key }) => ({ row_key, shard: shardOf(row_key, topology.shards) }));
    const wanted = await (columns === '*'
      ? readWanted(wantingRows(bringing), rows, bringing.anyway)
      : readWanted(
          wantingCells(bringing),
          rows.flatMap(({ row_key, shard }) =>
            columns.map((column_name) => ({ key: { row_key, column_name }, shard })),
          ),
          bringing.anyway,
        ));
    for (const [at, { row_key, values }] of page.entries()) {
      const positions: Positions = { from: at * each, to: (at + 1) * each };
      await wanted.complete(positions, room.left());
      // Nothing is awaited until the room is taken: queries that share it would decode too much.
      const cells = cellsOfRow(wanted, row_key, positions, room);
      const decoded = 'error' in cells ? [] : cells;
      const fields = shape.choose(values);
      const size: Sized = {
        atMostBytes: decoded.reduce((sum, cell) => sum + cell.atMostBytes, shape.atMostBytes),
        measure: () => decoded.reduce((sum, cell) => sum + cell.measure(), ENTRY_ENVELOPE_BYTES + jsonBytes(fields)),
      };
      const isFirst = entries.length === 0 && bringing.anyway;
      if (!isFirst && 'error' in cells && cells.noRoom) return entries;
      if (!room.take(size, isFirst)) return entries;
      entries.push({
        row_key,
        fields,
        cells: 'error' in cells ? { error: cells.error } : cells.map(({ cell }) => cell),
      });
    }
  }
  return entries;
}

interface Positions {
  readonly from: number;
  readonly to: number;
}

type RowCells =
  | readonly DecodedCell[]
  | { readonly error: SchemalessError; /** Another answer may have it. */ readonly noRoom: boolean };

/** Returns the cells of a row, or the error of one; decodes no more than fits. */
function cellsOfRow(wanted: WantedCells, row_key: string, { from, to }: Positions, room: AnswerRoom): RowCells {
  const decoded: DecodedCell[] = [];
  const ofRow = answerRoom(room.left());
  for (let position = from; position < to; position += 1) {
    const answer = wanted.answer(position);
    if (answer.error) return { error: answer.error, noRoom: false };
    if (wanted.isLeftOut(position)) return { error: tooManyCells(row_key), noRoom: true };
    for (const stored of answer.cells) {
      if (stored.isOut) continue;
      const cell = wanted.decode(stored);
      if (!ofRow.take(cell)) return { error: tooManyCells(row_key), noRoom: true };
      decoded.push(cell);
    }
  }
  return decoded;
}

function tooManyCells(row_key: string): SchemalessError {
  return new SchemalessError(
    'answer_too_large',
    `row ${row_key} has more cells than fit: ask for some of its columns, or read it by itself`,
  );
}

async function explain(context: StoreContext, group: string, shard: number, statement: Statement) {
  const client = await context.groups.client(group);
  const { rows } = await askEither(client, group, 'writer', {
    ...statement,
    sql: `EXPLAIN FORMAT=JSON ${statement.sql}`,
  });
  return { shard, group, statement: statement.sql, plan: JSON.parse(toText(rows[0]?.[0])) as unknown };
}

interface EntriesWanted {
  readonly group: string;
  readonly client: SqlClient;
  readonly read: Role;
  readonly index: PhysicalIndex;
  readonly query: ParsedQuery;
}

/** Entries in order, one more than a page, which says whether there are more. */
interface EntriesFound {
  readonly found: readonly FoundEntry[];
  readonly role: Role;
}

const STATEMENTS_AT_ONCE = 2;

/** Reads a query's entries; `mayJoin`: with one statement for concurrent queries, which all fail if it fails. */
type EntryReads = (wanted: EntriesWanted, mayJoin: boolean) => Promise<EntriesFound>;

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

  const join = batchedByKey<EntriesWanted, EntriesFound | SchemalessError>(
    {
      atOnce: STATEMENTS_AT_ONCE,
      fits: (taken, next) => taken.reduce((sum, { query }) => sum + query.limit, next.query.limit) <= LIMITS.listCells,
      run: readAll,
    },
    ({ group, read, index }) => `${group}/${read}/${indexTableName(index.name, index.hash)}`,
  );

  return async (wanted, mayJoin) => {
    const [found] = mayJoin ? [await join(wanted)] : await readAll([wanted]);
    if (found && 'found' in found) return found;
    throw found ?? new Error('an answer without its only query');
  };
}

/** Whether a query reads only what it answers, in a key in row order: queries batched with it do not wait. */
function isBounded({ filters, order }: ParsedQuery): boolean {
  return order === undefined && filters.length <= 1 && filters.every(({ operator }) => operator === 'eq');
}

function byRowKey(one: FoundEntry, other: FoundEntry): number {
  return one.row_key < other.row_key ? -1 : 1;
}
