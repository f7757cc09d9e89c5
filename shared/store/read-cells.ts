import {
  parseAddress,
  parseColumnName,
  parseAddedId,
  parseRefKey,
  parseRowKey,
  parseLimit,
  parseRead,
  shardOf,
} from '../address.ts';
import { LIMITS, type Cell, type CellKey, type ErasedBy, type Role, type Served } from '../cell.ts';
import { invalidField, SchemalessError } from '../errors.ts';
import { byItem, bytesCome, type ItemRows, type StoredCell } from '../sql/cell-rows.ts';
import { retentionOf, shownRetention, type RetentionRules } from '../sql/hidden-cells.ts';
import { selectCells, type ShardKey } from '../sql/statements/select-cells.ts';
import { selectErasures } from '../sql/statements/select-erasures.ts';
import { selectRow } from '../sql/statements/select-row.ts';
import { selectVersions } from '../sql/statements/select-versions.ts';
import type { Statement } from '../sql/client.ts';
import { unionOf } from '../sql/union.ts';
import { requireDatastore, homeOf } from '../access/groups.ts';
import type { AnswerRoom } from '../contract/answer-room.ts';
import type { StoreContext } from '../access/context.ts';
import type { Datastore, Found, Page, ReadOptions } from '../contract/datastore.ts';
import { decodeCell, decodeSizedCell, decodeUntilFull, noRoomLeft } from '../access/decode.ts';
import { joinedByKey } from '../access/joined.ts';
import { readGroup, type GroupItem, askEither, pageBytes } from '../access/ask-parts.ts';
import { readBatch } from './read-batch.ts';

type CellReads = Pick<Datastore, 'get' | 'getLatest' | 'versions' | 'row' | 'batchGet'>;

/** The reads of single rows, and of batches of cells: one statement a group. */
export function cellReads(context: StoreContext, name: string, shards: number): CellReads {
  /** One item of one row, from the group that holds its shard. */
  async function readOne(
    rowKey: string,
    options: ReadOptions,
    statement: (shard: number, heads: boolean, bytes: number, rules: RetentionRules) => Statement,
  ): Promise<ItemRows & Served & { readonly bytes: number }> {
    const minimum = parseAddedId(options.min_added_id);
    const read = parseRead(options.read);
    const shard = shardOf(rowKey, shards);
    const topology = await requireDatastore(context.topology, name);
    const { group } = homeOf(topology, shard);
    const client = await context.groups.client(group);
    const bytes = Math.floor(pageBytes(client) / (options.room ? SHARERS : 1));
    const [answer] = await context.admit(group, () =>
      readGroup(client, group, {
        statement: () => statement(shard, minimum !== undefined, bytes, topology.retention),
        minima: [minimum],
        read,
      }),
    );
    if (!answer) throw new Error('an answer without its only item');
    if (answer.error) throw answer.error;
    return { ...answer, bytes };
  }

  const find = cellLookUps(context, name, shards);
  const source = { context, name, shards };

  return {
    get: (address, options = {}) => rejectable(() => find(parseAddress(address), options)),

    getLatest: (key, options = {}) =>
      rejectable(() =>
        find({ row_key: parseRowKey(key.row_key), column_name: parseColumnName(key.column_name) }, options),
      ),

    async versions(key, options = {}): Promise<Page<number>> {
      const limit = parseLimit(options.limit);
      const range = {
        row_key: parseRowKey(key.row_key),
        column_name: parseColumnName(key.column_name),
        after: options.after === undefined ? undefined : parseRefKey(options.after, 'after'),
        ascending: parseOrder(options.order) === 'asc',
        limit: limit + 1,
      };
      const answer = await readOne(range.row_key, options, (shard, heads, bytes, rules) =>
        selectVersions(name, shard, { ...range, bytes }, heads, rules),
      );
      return toPage(answer, { limit, room: options.room, packed: options.packed }, ({ ref_key }) => ref_key);
    },

    async row(rowKey, options = {}): Promise<Page<string>> {
      const range = {
        row_key: parseRowKey(rowKey),
        columns: options.columns?.map((column, position) => parseColumnName(column, `column[${position}]`)),
        after: options.after === undefined ? undefined : parseColumnName(options.after, 'after'),
        limit: LIMITS.listCells + 1,
      };
      if (range.columns?.length === 0) range.columns = undefined;
      if ((range.columns?.length ?? 0) > LIMITS.listCells)
        throw invalidField('column', `at most ${LIMITS.listCells} columns`, range.columns?.length);
      const answer = await readOne(range.row_key, options, (shard, heads, bytes, rules) =>
        selectRow(name, shard, { ...range, bytes }, heads, { rules }),
      );
      return toPage(
        answer,
        { limit: LIMITS.listCells, room: options.room, packed: options.packed },
        ({ column_name }) => column_name,
      );
    },

    batchGet: (keys, options = {}) => readBatch(source, keys, options),
  };
}

/** Statements that look up cells of a group at a time: as many as its servers may work on side by side. */
const LOOK_UPS_OF_A_GROUP = 2;

interface LookUp {
  readonly group: string;
  readonly read: Role;
  readonly wanted: ShardKey;
  /** The same object for all that are read by the same topology. */
  readonly rules: RetentionRules;
}

/**
 * Looks up single cells of a datastore, those that are wanted of a group at the same time in one statement. Without a
 * ref key: the latest.
 */
function cellLookUps(
  context: StoreContext,
  name: string,
  shards: number,
): (key: CellKey, options: ReadOptions) => Promise<Found> {
  const lookUp = joinLookUps(context, name);
  return async ({ row_key, column_name, ref_key }, options) => {
    const key: CellKey = { row_key, column_name, ref_key, min_added_id: parseAddedId(options.min_added_id) };
    const read = parseRead(options.read);
    const shard = shardOf(row_key, shards);
    const topology = await requireDatastore(context.topology, name);
    const { group } = homeOf(topology, shard);
    const rules = topology.retention;
    const found = await context.admit(group, () => lookUp({ group, read, wanted: { key, shard }, rules }));
    if (found.error) throw found.error;
    const { cells, served_by, stale } = found;
    const decoded = cells[0] && decodeSizedCell(cells[0], options.packed);
    if (decoded && options.room?.take(decoded) === false) throw noRoomLeft();
    const why =
      decoded?.cell.erased === true && cells[0]
        ? await whyErased(context, { name, group, read, rules }, cells[0], decoded.cell)
        : {};
    return { cell: decoded?.cell ?? null, served_by, stale, ...why };
  };
}

interface ReadFrom {
  readonly name: string;
  readonly group: string;
  readonly read: Role;
  readonly rules: RetentionRules;
}

/** Why the body of a cell is not shown. */
async function whyErased(
  context: StoreContext,
  from: ReadFrom,
  { hidden }: StoredCell,
  cell: Cell,
): Promise<Pick<Found, 'erasure' | 'why' | 'rule'>> {
  const erasure = hidden ? undefined : await erasedBy(context, from, cell);
  if (!hidden && erasure?.why !== 'retention') return erasure ? { erasure } : {};
  const rule = retentionOf(from.rules, cell.column_name);
  return { why: 'retention', ...(erasure && { erasure }), ...(rule && { rule: shownRetention(rule) }) };
}

/** Why the body of a cell is gone, and since when, as far as that can still be read. */
async function erasedBy(
  context: StoreContext,
  { name, group, read }: ReadFrom,
  cell: Cell,
): Promise<ErasedBy | undefined> {
  const statement = unionOf(selectErasures(name, cell.shard, cell, 0));
  const asked = askEither(await context.groups.client(group), group, read, statement);
  const { rows } = await asked.catch((error: unknown) => {
    if (error instanceof SchemalessError) return { rows: [] };
    throw error;
  });
  const [first] = (byItem(rows, 1)[0]?.cells ?? []).toSorted((one, other) => one.added_id - other.added_id);
  const { created_at: erased_at = '', erasure } = first ? decodeCell(first) : {};
  return erasure && { ...erasure, erased_at };
}

function joinLookUps(context: StoreContext, name: string): (one: LookUp) => Promise<GroupItem> {
  return joinedByKey<LookUp, GroupItem>(
    {
      atOnce: LOOK_UPS_OF_A_GROUP,
      fits: (taken, { rules }) => taken.length < LIMITS.batchCells && rules === taken[0].rules,
      async run(some) {
        const [{ group, read, rules }] = some;
        const wanted = some.map((one) => one.wanted);
        const statement = (positions: readonly number[]): Statement =>
          selectCells(
            name,
            positions.length === wanted.length ? wanted : positions.map((position) => wanted[position] as ShardKey),
            true,
            undefined,
            rules,
          );
        return readGroup(await context.groups.client(group), group, {
          statement,
          minima: some.map(({ wanted }) => wanted.key.min_added_id),
          read,
        });
      },
    },
    ({ group, read }) => `${group}/${read}`,
  );
}

/**
 * Reads that share an answer fetch so small a part each of what one may have: few are longer, and those are asked for
 * alone.
 */
const SHARERS = 8;

/** Arguments are checked in the same turn; a failed check must still reach the caller as a rejection. */
function rejectable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error as Error);
  }
}

interface PageWanted {
  readonly limit: number;
  readonly room: AnswerRoom | undefined;
  readonly packed: boolean | undefined;
}

function toPage<Next>(
  answer: ItemRows & Served & { readonly bytes: number },
  { limit, room, packed }: PageWanted,
  nextOf: (cell: { readonly ref_key: number; readonly column_name: string }) => Next,
): Page<Next> {
  const wanted = answer.cells.slice(0, limit);
  const cells = decodeUntilFull(wanted, packed, room, room === undefined);
  const last = cells.at(-1);
  // One row more than asked for says whether the list goes on; a list that was cut by its bytes may, too.
  const encoded = answer.cells.reduce((sum, cell) => sum + bytesCome(cell), 0);
  const more = cells.length < answer.cells.length || encoded >= answer.bytes;
  if (room && (cells.length < wanted.length || (encoded >= answer.bytes && answer.cells.length <= limit)))
    throw noRoomLeft();
  // Only here: what is left out counts for where the list goes on.
  const shown = cells.filter((_, position) => wanted[position]?.isOut !== true);
  return { cells: shown, next: last && more ? nextOf(last) : null, served_by: answer.served_by, stale: answer.stale };
}

function parseOrder(value: unknown): 'asc' | 'desc' {
  if (value === undefined || value === 'desc') return 'desc';
  if (value === 'asc') return 'asc';
  throw invalidField('order', 'asc or desc', value);
}
