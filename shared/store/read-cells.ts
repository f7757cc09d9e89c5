import { parseAddress, parseColumnName, parseKey, parseMinimum, parseRefKey, parseRowKey } from '../address.ts';
import { LIMITS, type CellKey, type Role, type Served } from '../cell.ts';
import { invalidField, SchemalessError } from '../errors.ts';
import { shardOf } from '../shard.ts';
import type { ItemRows, StoredCell } from '../sql/cell-rows.ts';
import { selectCells, type ShardKey } from '../sql/statements/select-cells.ts';
import { selectRow } from '../sql/statements/select-row.ts';
import { selectVersions } from '../sql/statements/select-versions.ts';
import type { Statement } from '../sql/client.ts';
import { requireDatastore } from '../access/groups.ts';
import { answerRoom, noRoomLeft } from '../access/answer-room.ts';
import type { AnswerRoom } from '../contract/answer-room.ts';
import { placeOf, type StoreContext } from '../access/context.ts';
import { joinedByKey } from '../access/joined.ts';
import type { BatchItem, Datastore, Found, Page, ReadOptions } from '../contract/datastore.ts';
import { decodeSizedCell, decodeUntilFull } from '../access/decode.ts';
import { parseBatch, parseLimit, parseRead } from '../access/parse.ts';
import { pageBytes, readGroup, type GroupItem } from '../access/read-group.ts';
import { readWanted, wantingCells, type WantedCells } from '../access/wanted-cells.ts';

type CellReads = Pick<Datastore, 'get' | 'getLatest' | 'versions' | 'row' | 'batchGet'>;

/** The reads of single rows, and of batches of cells: one statement a group. */
export function cellReads(context: StoreContext, name: string, shards: number): CellReads {
  /** One item of one row, from the group that holds its shard. */
  async function readOne(
    rowKey: string,
    options: ReadOptions,
    statement: (shard: number, heads: boolean, bytes: number) => Statement,
  ): Promise<ItemRows & Served & { readonly bytes: number }> {
    const minimum = parseMinimum(options.min_added_id);
    const read = parseRead(options.read);
    const shard = shardOf(rowKey, shards);
    const { group } = placeOf(await requireDatastore(context.topology, name), shard);
    const client = await context.groups.client(group);
    const bytes = Math.floor(pageBytes(client) / (options.room ? SHARERS : 1));
    const [answer] = await context.admit(group, () =>
      readGroup(client, group, {
        statement: () => statement(shard, minimum !== undefined, bytes),
        minima: [minimum],
        read,
      }),
    );
    if (!answer) throw new Error('an answer without its only item');
    if (answer.error) throw answer.error;
    return { ...answer, bytes };
  }

  const lookUp = joinLookUps(context, name);

  async function find({ row_key, column_name, ref_key }: CellKey, options: ReadOptions): Promise<Found> {
    const key: CellKey = { row_key, column_name, ref_key, min_added_id: parseMinimum(options.min_added_id) };
    const read = parseRead(options.read);
    const shard = shardOf(row_key, shards);
    const { group } = placeOf(await requireDatastore(context.topology, name), shard);
    const found = await context.admit(group, () => lookUp({ group, read, wanted: { key, shard } }));
    if (found.error) throw found.error;
    const { cells, served_by, stale } = found;
    const decoded = cells[0] && decodeSizedCell(cells[0]);
    if (decoded && options.room?.take(decoded) === false) throw noRoomLeft();
    return { cell: decoded?.cell ?? null, served_by, stale };
  }

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
      const answer = await readOne(range.row_key, options, (shard, heads, bytes) =>
        selectVersions(name, shard, { ...range, bytes }, heads),
      );
      return toPage(answer, { limit, room: options.room }, ({ ref_key }) => ref_key);
    },

    async row(rowKey, options = {}): Promise<Page<string>> {
      const range = {
        row_key: parseRowKey(rowKey),
        columns: options.columns?.map((column, place) => parseColumnName(column, `column[${place}]`)),
        after: options.after === undefined ? undefined : parseColumnName(options.after, 'after'),
        limit: LIMITS.listCells + 1,
      };
      if (range.columns?.length === 0) range.columns = undefined;
      if ((range.columns?.length ?? 0) > LIMITS.listCells)
        throw invalidField('column', `at most ${LIMITS.listCells} columns`, range.columns?.length);
      const answer = await readOne(range.row_key, options, (shard, heads, bytes) =>
        selectRow(name, shard, { ...range, bytes }, heads),
      );
      return toPage(answer, { limit: LIMITS.listCells, room: options.room }, ({ column_name }) => column_name);
    },

    async batchGet(keys, options = {}): Promise<readonly BatchItem[]> {
      const read = parseRead(options.read);
      const wanted = parseBatch(keys, 'keys', parseKey).map((key): ShardKey => ({
        key,
        shard: shardOf(key.row_key, shards),
      }));
      const cells = await readWanted(
        wantingCells({ context, name, topology: await requireDatastore(context.topology, name), read }),
        wanted,
      );
      const full: FullAnswer = { room: answerRoom(), refused: false };
      const items: BatchItem[] = [];
      for (const place of wanted.keys()) {
        if (cells.isLeftOut(place)) await cells.complete({ from: place, to: place + 1 }, full.room.left());
        items.push(toBatchItem(cells, place, full));
      }
      return items;
    },
  };
}

/**
 * Reads that share an answer fetch so small a part each of what one may have: few are longer, and those are asked for
 * alone.
 */
const SHARERS = 8;
/** Statements that look up cells of a group at a time: as many as its servers may work on side by side. */
const LOOK_UPS_OF_A_GROUP = 2;

interface LookUp {
  readonly group: string;
  readonly read: Role;
  readonly wanted: ShardKey;
}

/** Looks up single cells, those that are wanted of a group at the same time in one statement. */
function joinLookUps(context: StoreContext, name: string): (one: LookUp) => Promise<GroupItem> {
  return joinedByKey<LookUp, GroupItem>(
    {
      atOnce: LOOK_UPS_OF_A_GROUP,
      fits: ({ length }) => length < LIMITS.batchCells,
      async run(some) {
        const [{ group, read }] = some;
        const statement = (places: readonly number[]): Statement =>
          selectCells(
            name,
            places.flatMap((place) => some[place]?.wanted ?? []),
            true,
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

/** Arguments are checked in the same turn; a failed check must still reach the caller as a rejection. */
async function rejectable<T>(work: () => Promise<T>): Promise<T> {
  return work();
}

interface PageWanted {
  readonly limit: number;
  readonly room: AnswerRoom | undefined;
}

function toPage<Next>(
  answer: ItemRows & Served & { readonly bytes: number },
  { limit, room }: PageWanted,
  nextOf: (cell: { readonly ref_key: number; readonly column_name: string }) => Next,
): Page<Next> {
  const wanted = answer.cells.slice(0, limit);
  const cells = decodeUntilFull(wanted, room, room === undefined);
  const last = cells.at(-1);
  // One row more than asked for says whether the list goes on; a list that was cut by its bytes may, too.
  const encoded = answer.cells.reduce((sum, { body }) => sum + (body?.length ?? 0), 0);
  const more = cells.length < answer.cells.length || encoded >= answer.bytes;
  if (room && (cells.length < wanted.length || (encoded >= answer.bytes && answer.cells.length <= limit)))
    throw noRoomLeft();
  return { cells, next: last && more ? nextOf(last) : null, served_by: answer.served_by, stale: answer.stale };
}

/** An item of a batch, if the answer still has room for it; one that fails does so alone. */
function toBatchItem(cells: WantedCells, place: number, full: FullAnswer): BatchItem {
  const { room } = full;
  const answer = cells.answer(place);
  if (answer.error) return { error: answer.error };
  const [stored] = answer.cells;
  if (!stored) return null;
  // Behind one that had no room only such are decoded that fit in any case: a hundred may be large, to be thrown away.
  if (cells.isLeftOut(place) || (full.refused && cells.atMostBytes(stored) > room.left()))
    return { error: noRoomFor(stored) };
  const decoded = cells.decode(stored);
  if (decoded.cell.error) return { error: decoded.cell.error };
  if (room.take(decoded)) return { ...decoded.cell, served_by: answer.served_by, stale: answer.stale };
  full.refused = true;
  return { error: noRoomFor(stored) };
}

interface FullAnswer {
  readonly room: AnswerRoom;
  /** An item had no room. */
  refused: boolean;
}

function noRoomFor({ row_key, column_name, ref_key }: StoredCell): SchemalessError {
  return new SchemalessError(
    'answer_too_large',
    "the batch's answer has no room for this cell: ask for it alone, or with fewer",
    { address: { row_key, column_name, ref_key } },
  );
}

function parseOrder(value: unknown): 'asc' | 'desc' {
  if (value === undefined || value === 'desc') return 'desc';
  if (value === 'asc') return 'asc';
  throw invalidField('order', 'asc or desc', value);
}
