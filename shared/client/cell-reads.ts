import { parseAddress, parseColumnName, parseRowKey, isPathColumnName, ROUTE_WORDS } from '../address.ts';
import type { CellKey, Role } from '../cell.ts';
import type { BatchItem, Datastore, Found, ReadOptions } from '../contract/datastore.ts';
import { invalidField, SchemalessError } from '../errors.ts';
import { toFound, toItems, toPage, toServed, firstOf } from './answers.ts';
import type { Call, Connection } from './calls.ts';
import { logCalls, sealedIn } from './log-calls.ts';
import type { OwnWrites } from './own-writes.ts';

/** Reduces a key, which may be a whole cell, to the members that the server knows. */
function toKey({ row_key, column_name, ref_key, min_added_id }: CellKey): CellKey {
  return { row_key, column_name, ref_key, min_added_id };
}

type CellReads = Pick<Datastore, 'get' | 'getLatest' | 'versions' | 'row' | 'batchGet'>;

export function cellReads(send: Connection, own: OwnWrites | undefined): CellReads {
  const countShards = async (): Promise<number> => (await logCalls(send).heads()).length;
  const seen = async (rowKey: string, options: ReadOptions): Promise<NonNullable<Call['query']>> =>
    own === undefined ? read(options) : read(await own.seen(rowKey, options, countShards));
  const row: Datastore['row'] = async (rowKey, { columns, after, ...options } = {}) => {
    const row_key = parseRowKey(rowKey);
    const query = { column: columns, after, ...(await seen(row_key, options)) };
    return toPage<string>(await send({ method: 'GET', path: ['rows', row_key], joins: 'batch-read', query }));
  };
  const batchGet: Datastore['batchGet'] = async (keys, { read, sealed } = {}) => {
    const wanted = await seenKeys(keys.map(toKey), read);
    const query = { read: wanted.read, ...sealedIn(sealed) };
    const { json } = await send({ method: 'POST', path: ['batch-get'], query, body: { keys: wanted.keys } });
    return toItems<BatchItem>(json['cells']);
  };
  /** Returns the keys with one role, since one role answers a batch. */
  async function seenKeys(keys: readonly CellKey[], read: Role | undefined) {
    if (own === undefined || read !== 'reader') return { read, keys };
    const shown = await Promise.all(
      keys.map(({ row_key, min_added_id }) => own.seen(parseRowKey(row_key), { read, min_added_id }, countShards)),
    );
    const least = keys.map((key, position) => ({ ...key, min_added_id: shown[position]?.min_added_id }));
    return { read: shown.every((one) => one.read === 'reader') ? read : ('writer' as const), keys: least };
  }
  const find = async (rowKey: string, path: Call['path'], options: ReadOptions): Promise<Found> =>
    findCell(send, path, await seen(rowKey, options));

  return {
    row,
    batchGet,
    async get(address, options = {}) {
      const { row_key, column_name, ref_key } = parseAddress(address);
      if (isPathColumnName(column_name)) return find(row_key, ['cells', row_key, column_name, ref_key], options);
      const key = { row_key, column_name, ref_key, min_added_id: options.min_added_id };
      const item = firstOf(await batchGet([key], options));
      // The batch does not name the node that found nothing, so the answer may be behind.
      if (item === null) return { cell: null, served_by: options.read ?? 'writer', stale: true };
      if (!('row_key' in item)) throw item.error;
      const { served_by, stale, ...cell } = item;
      return { cell, served_by, stale };
    },
    async getLatest(key, options = {}) {
      const [row_key, column_name] = [parseRowKey(key.row_key), parseColumnName(key.column_name)];
      if (isPathColumnName(column_name)) return find(row_key, ['cells', row_key, column_name], options);
      const { cells, served_by, stale } = await row(row_key, { columns: [column_name], ...options });
      const [cell] = cells;
      if (cell?.error !== undefined) throw cell.error;
      return { cell: cell ?? null, served_by, stale };
    },
    async versions(key, { limit, order, after, ...options } = {}) {
      const [row_key, column_name] = [parseRowKey(key.row_key), parseColumnName(key.column_name)];
      if (!isPathColumnName(column_name))
        throw invalidField(
          'column_name',
          `A-Z a-z 0-9 _ - space . over HTTP, and none of ".", "..", ${ROUTE_WORDS.join(', ')}`,
          column_name,
        );
      const path = ['cells', row_key, column_name, 'versions'];
      const query = { limit, order, after, ...(await seen(row_key, options)) };
      return toPage<number>(await send({ method: 'GET', path, query }));
    },
  };
}

/** Reads the cell of a path; a missing or erased cell is an answer as well. */
async function findCell(send: Connection, path: Call['path'], query: Call['query'] = {}): Promise<Found> {
  try {
    return toFound(await send({ method: 'GET', path, joins: 'batch-read', query }));
  } catch (error) {
    if (!(error instanceof SchemalessError) || (error.code !== 'cell_not_found' && error.code !== 'erased'))
      throw error;
    const { cell = null, erasure, why, rule, ...served } = (error.details.more ?? {}) as Partial<Found>;
    return { cell, ...toServed(served), ...(erasure && { erasure }), ...(why && { why }), ...(rule && { rule }) };
  }
}

function read({ read, min_added_id, sealed }: ReadOptions): NonNullable<Call['query']> {
  return { read, min_added_id, ...sealedIn(sealed) };
}
