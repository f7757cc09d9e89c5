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
import { LIMITS, type Served } from '../cell.ts';
import { invalidField } from '../errors.ts';
import { bytesCome, leftOutBytes, type ItemRows, type StoredCell } from '../sql/cell-rows.ts';
import { selectColumns } from '../sql/statements/select-columns.ts';
import { selectRow, type RowRange } from '../sql/statements/select-row.ts';
import { selectVersions } from '../sql/statements/select-versions.ts';
import type { Statement } from '../sql/client.ts';
import { requireDatastore, homeOf } from '../access/groups.ts';
import type { StoreContext } from '../access/context.ts';
import type { Datastore, Page, StoreReadOptions } from '../contract/datastore.ts';
import { decodeUntilFull, noRoomLeft } from '../access/decode.ts';
import { readGroup, pageBytes } from '../access/ask-parts.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import { cellLookUps } from './look-up-cells.ts';
import type { LookUps } from './look-ups.ts';
import { readBatch } from './read-batch.ts';

type CellReads = Pick<Datastore, 'get' | 'getLatest' | 'versions' | 'row' | 'batchGet'> & LookUps;

export function cellReads(context: StoreContext, name: string, shards: number): CellReads {
  const readOne = oneOfRow(context, name, shards);
  const { find, findEach } = cellLookUps(context, name, shards);

  return {
    async get(address, options = {}) {
      return find(parseAddress(address), options);
    },

    async getLatest({ row_key, column_name }, options = {}) {
      return find({ row_key: parseRowKey(row_key), column_name: parseColumnName(column_name) }, options);
    },

    findEach,

    async versions(key, options = {}): Promise<Page<number>> {
      const limit = parseLimit(options.limit);
      const range = {
        row_key: parseRowKey(key.row_key),
        column_name: parseColumnName(key.column_name),
        after: options.after === undefined ? undefined : parseRefKey(options.after, 'after'),
        ascending: parseOrder(options.order) === 'asc',
        limit: limit + 1,
      };
      const answer = await readOne(range.row_key, options, (topology, shard, heads, bytes) =>
        selectVersions(topology, shard, { ...range, bytes }, heads),
      );
      return toPage(answer, limit, options, ({ ref_key }) => ref_key);
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
      const answer =
        (await readColumns(readOne, range, options)) ??
        (await readOne(range.row_key, options, (topology, shard, heads, bytes) =>
          selectRow(topology, shard, { ...range, bytes }, heads),
        ));
      return toPage(answer, LIMITS.listCells, options, ({ column_name }) => column_name);
    },

    batchGet: (keys, options = {}) => readBatch(context, name, shards, keys, options),
  };
}

type ReadOne = (
  rowKey: string,
  options: StoreReadOptions,
  statement: (topology: DatastoreTopology, shard: number, heads: boolean, bytes: number) => Statement,
) => Promise<ItemRows & Served & { readonly bytes: number }>;

function oneOfRow(context: StoreContext, name: string, shards: number): ReadOne {
  return async (rowKey, options, statement) => {
    const minimum = parseAddedId(options.min_added_id);
    const read = parseRead(options.read);
    const shard = shardOf(rowKey, shards);
    const topology = await requireDatastore(context.topology, name);
    const { group } = homeOf(topology, shard);
    const client = await context.groups.client(group);
    const bytes = Math.floor(pageBytes(client) / (options.room ? SHARERS : 1));
    const [answer] = await context.admit(group, () =>
      readGroup(client, group, {
        statement: () => statement(topology, shard, minimum !== undefined, bytes),
        minima: [minimum],
        read,
      }),
    );
    if (!answer) throw new Error('an answer without its only item');
    if (answer.error) throw answer.error;
    return { ...answer, bytes };
  };
}

/** Reads that share an answer fetch this part of its size; the few longer ones are asked for alone. */
const SHARERS = 8;

/** More columns than this are not worth a look-up each. */
const FEW_COLUMNS = 8;

/** Looks up the latest cells of a few columns; undefined if one is too long for that. */
async function readColumns(
  readOne: ReadOne,
  { row_key, columns = [], after }: Pick<RowRange, 'row_key' | 'columns' | 'after'>,
  options: StoreReadOptions,
): Promise<Awaited<ReturnType<ReadOne>> | undefined> {
  const few = [...new Set(columns)];
  if (after !== undefined || few.length === 0 || few.length > FEW_COLUMNS) return undefined;
  const answer = await readOne(row_key, options, (topology, shard, heads, bytes) =>
    selectColumns(topology, shard, { row_key, columns: few, bytes }, heads),
  );
  if (!answer.cells.some((cell) => leftOutBytes(cell) !== undefined))
    return { ...answer, cells: answer.cells.toSorted(byName) };
  if (options.room) throw noRoomLeft();
  return undefined;
}

function byName(one: StoredCell, other: StoredCell): number {
  return Buffer.compare(Buffer.from(one.column_name), Buffer.from(other.column_name));
}

function toPage<Next>(
  answer: ItemRows & Served & { readonly bytes: number },
  limit: number,
  { room, packed }: StoreReadOptions,
  nextOf: (cell: { readonly ref_key: number; readonly column_name: string }) => Next,
): Page<Next> {
  const wanted = answer.cells.slice(0, limit);
  const cells = decodeUntilFull(wanted, packed, room);
  const last = cells.at(-1);
  // One row too many, or a list cut by its bytes, may go on.
  const encoded = answer.cells.reduce((sum, cell) => sum + bytesCome(cell), 0);
  const more = cells.length < answer.cells.length || encoded >= answer.bytes;
  if (room && (cells.length < wanted.length || (encoded >= answer.bytes && answer.cells.length <= limit)))
    throw noRoomLeft();
  // Hidden cells count for where the list goes on.
  const shown = cells.filter((_, position) => wanted[position]?.isOut !== true);
  return { cells: shown, next: last && more ? nextOf(last) : null, served_by: answer.served_by, stale: answer.stale };
}

function parseOrder(value: unknown): 'asc' | 'desc' {
  if (value === undefined || value === 'desc') return 'desc';
  if (value === 'asc') return 'asc';
  throw invalidField('order', 'asc or desc', value);
}
