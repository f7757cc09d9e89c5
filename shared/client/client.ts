import { parseAddress, parseColumnName, parseRowKey } from '../address.ts';
import { isPathColumnName } from '../api/path-column-name.ts';
import { checkBody } from '../body/measure.ts';
import type { CellKey, NewCell, PutResult } from '../cell.ts';
import { invalidField, SchemalessError } from '../errors.ts';
import type { BufferOperations, Datastore, Found, IndexOperations, ReadOptions } from '../contract/datastore.ts';
import type { TriggerOperations } from '../contract/trigger-operations.ts';
import { toBatchItems, toFound, toPage, toPutResult, toServed } from './answers.ts';
import { connect, type Call, type Connection } from './connection.ts';
import type { ClientOptions } from './options.ts';
import { bufferCalls } from './buffer-calls.ts';
import { indexCalls } from './index-calls.ts';
import { logCalls } from './log-calls.ts';
import { putNextOver, type PutNext } from './put-next.ts';
import { triggerCalls } from './trigger-calls.ts';

/** A datastore over HTTP: what a datastore can do, and `putNext`. */
export interface SchemalessClient
  extends Omit<Datastore, 'shards'>, BufferOperations, IndexOperations, TriggerOperations {
  readonly putNext: PutNext;
}

/**
 * A client of one datastore. Needs nothing to be closed; may be used by any number of callers at once.
 *
 * Requests are repeated with growing, random pauses when no answer came or the server says that it may help; what is
 * then still refused is thrown as the SchemalessError that the server named; `unavailable` also when no answer came at
 * all. As with any datastore, outcomes of puts are results: what the server answered as `conflict` or `unavailable` is
 * returned. Items of a batch are not repeated one by one.
 *
 * ```ts
 * const trips = schemalessClient({ url: 'http://127.0.0.1:4000', datastore: 'trips' });
 * await trips.put({ row_key, column_name: 'BASE', ref_key: 1, body: { city: 'Lisbon' } });
 * const { cell } = await trips.getLatest({ row_key, column_name: 'BASE' });
 * ```
 */
export function schemalessClient(options: ClientOptions): SchemalessClient {
  const send = connect(options);
  const { put, batchPut } = writes(send);
  const { get, getLatest, ...otherReads } = reads(send);
  return {
    name: options.datastore,
    put,
    batchPut,
    get,
    getLatest,
    ...otherReads,
    ...logCalls(send),
    ...indexCalls(send),
    ...bufferCalls(send),
    ...triggerCalls(send),
    putNext: putNextOver({ put, getLatest }),
  };
}

function writes(send: Connection): Pick<Datastore, 'put' | 'batchPut'> {
  const batchPut: Datastore['batchPut'] = async (cells) => {
    const checked = cells.map((cell, place) => checkCell(cell, `cells[${place}].`));
    const { json } = await send({ method: 'POST', path: ['batch-put'], body: { cells: checked } });
    return (json['results'] as readonly { readonly [member: string]: unknown }[]).map(toPutResult);
  };
  return {
    batchPut,
    async put(cell): Promise<PutResult> {
      const { row_key, column_name, ref_key, body } = checkCell(cell);
      if (!isPathColumnName(column_name)) return firstOf(await batchPut([cell]));
      try {
        return toPutResult((await send({ method: 'PUT', path: ['cells', row_key, column_name, ref_key], body })).json);
      } catch (error) {
        if (error instanceof SchemalessError && error.details.more?.['outcome'] !== undefined)
          return toPutResult({ reason: reasonOf(error), ...error.details.more });
        throw error;
      }
    },
  };
}

/** Whole cells may be given as keys; the server knows no other members. */
function toKey({ row_key, column_name, ref_key, min_added_id }: CellKey): CellKey {
  return { row_key, column_name, ref_key, min_added_id };
}

function reads(send: Connection): Pick<Datastore, 'get' | 'getLatest' | 'versions' | 'row' | 'batchGet'> {
  const row: Datastore['row'] = async (rowKey, { columns, after, ...options } = {}) =>
    toPage<string>(
      await send({
        method: 'GET',
        path: ['rows', parseRowKey(rowKey)],
        joins: 'batch-read',
        query: { column: columns, after, ...read(options) },
      }),
    );
  const batchGet: Datastore['batchGet'] = async (keys, options = {}) =>
    toBatchItems(
      (
        await send({
          method: 'POST',
          path: ['batch-get'],
          query: { read: options.read },
          body: { keys: keys.map(toKey) },
        })
      ).json['cells'],
    );

  return {
    row,
    batchGet,
    async get(address, options = {}) {
      const { row_key, column_name, ref_key } = parseAddress(address);
      if (isPathColumnName(column_name)) return find(send, ['cells', row_key, column_name, ref_key], options);
      const item = firstOf(
        await batchGet([{ row_key, column_name, ref_key, min_added_id: options.min_added_id }], options),
      );
      // The batch does not say who found nothing, so that it has to count as possibly behind.
      if (item === null) return { cell: null, served_by: options.read ?? 'writer', stale: true };
      if (!('row_key' in item)) throw item.error;
      const { served_by, stale, ...cell } = item;
      return { cell, served_by, stale };
    },
    async getLatest(key, options = {}) {
      const [row_key, column_name] = [parseRowKey(key.row_key), parseColumnName(key.column_name)];
      if (isPathColumnName(column_name)) return find(send, ['cells', row_key, column_name], options);
      const { cells, served_by, stale } = await row(row_key, { columns: [column_name], ...options });
      const [cell] = cells;
      if (cell?.error !== undefined) throw cell.error;
      return { cell: cell ?? null, served_by, stale };
    },
    async versions(key, { limit, order, after, ...options } = {}) {
      const [row_key, column_name] = [parseRowKey(key.row_key), parseColumnName(key.column_name)];
      if (!isPathColumnName(column_name))
        throw invalidField('column_name', 'A-Z a-z 0-9 _ - space . over HTTP, and neither "." nor ".."', column_name);
      return toPage<number>(
        await send({
          method: 'GET',
          path: ['cells', row_key, column_name, 'versions'],
          query: { limit, order, after, ...read(options) },
        }),
      );
    },
  };
}

/** One cell of the path; none is an answer, too. */
async function find(send: Connection, path: Call['path'], options: ReadOptions): Promise<Found> {
  try {
    return toFound(await send({ method: 'GET', path, joins: 'batch-read', query: read(options) }));
  } catch (error) {
    if (error instanceof SchemalessError && error.code === 'cell_not_found')
      return { cell: null, ...toServed(error.details.more ?? {}) };
    throw error;
  }
}

function read({ read, min_added_id }: ReadOptions): NonNullable<Call['query']> {
  return { read, min_added_id };
}

/** What JSON text would quietly change (NaN, undefined, a Date) is refused here. */
function checkCell(cell: NewCell, prefix = ''): NewCell {
  const address = parseAddress(cell, prefix);
  checkBody(cell.body, `${prefix}body`);
  return { ...address, body: cell.body };
}

function reasonOf(error: SchemalessError): string | undefined {
  return error.code === 'unavailable' ? error.message : undefined;
}

function firstOf<Item>(items: readonly Item[]): Item {
  const [item] = items;
  if (item === undefined) throw new SchemalessError('internal', 'The answer lacks the item that was asked for');
  return item;
}
