import { isObject, type Cell, type Json, type PutResult, type Served } from '../cell.ts';
import type { IndexAnswer, IndexEntry } from '../contract/index-query.ts';
import type { Found, Page, ShardLog } from '../contract/datastore.ts';
import type { Reply } from './calls.ts';
import { errorOf } from './problem.ts';
import { SchemalessError } from '../errors.ts';

/** Reads answers as the datastore's types, whose shapes the API's tests check; rebuilds errors of single items. */
export function toShardLogs(value: Json | undefined): readonly ShardLog[] {
  return toItems<ShardLog>(value).map((log) =>
    'cells' in log ? { ...log, cells: toItems(log.cells as unknown as Json) } : log,
  );
}

export function toIndexAnswer({ json }: Reply): IndexAnswer {
  return { ...json, entries: toItems<FoundEntry>(json['entries']).map(toEntry) } as unknown as IndexAnswer;
}

type FoundEntry = Omit<IndexEntry, 'cells'> & { readonly cells?: Json };

function toEntry(found: FoundEntry): IndexEntry {
  // A copy would take longer than all else.
  if (found.cells === undefined) return found as Omit<FoundEntry, 'cells'>;
  const { cells, ...entry } = found;
  if (isObject(cells) && isObject(cells['error'])) return { ...entry, cells: { error: errorOf(cells['error']) } };
  return { ...entry, cells: toItems<Cell>(cells) };
}

export function toFound({ json }: Reply): Found {
  const { served_by, stale, ...cell } = json;
  return { cell: cell as unknown as Cell, ...toServed({ served_by, stale }) };
}

export function toPage<Next>({ json }: Reply): Page<Next> {
  return { ...json, cells: toItems<Cell>(json['cells']) } as unknown as Page<Next>;
}

export function toServed({ served_by, stale }: { readonly [member: string]: unknown }): Served {
  return { served_by: served_by === 'reader' ? 'reader' : 'writer', stale: stale === true };
}

/** Drops the sent cell, and the request's own members. */
export function toPutResult(json: { readonly [member: string]: unknown }): PutResult {
  const { row_key: _row, column_name: _column, ref_key: _ref, body: _body, request_id: _id, ...result } = json;
  return result as unknown as PutResult;
}

/** Returns a list with the errors of its items rebuilt. */
export function toItems<Item>(value: Json | undefined): readonly Item[] {
  if (!Array.isArray(value)) throw new TypeError('The answer lacks its list');
  return value.map((item: Json) => {
    if (!isObject(item) || !isObject(item['error'])) return item as unknown as Item;
    return { ...item, error: errorOf(item['error']) } as unknown as Item;
  });
}

export function firstOf<Item>(items: readonly Item[]): Item {
  const [item] = items;
  if (item === undefined) throw new SchemalessError('internal', 'The answer lacks its item');
  return item;
}
