import { SchemalessError } from '../errors.ts';
import type { IndexCounted, IndexEntry } from '../contract/index-query.ts';
import type { Condition } from '../api/condition.ts';
import type { Role } from '../cell.ts';
import type { ModelDeclaration } from './declaration.ts';
import { modelRecord, readCells, type ModelCells, type ModelRecord } from './model-record.ts';

export interface FindOptions<Order extends string = string> {
  /** A field, `-field` for the highest first. @default the row key */
  readonly order?: Order;
  readonly limit?: number;
  /** Who is asked first. @default 'writer' */
  readonly read?: Role;
}

/** Records that an index finds, read page by page as they are asked for; each time anew. */
export interface FoundRecords<D extends ModelDeclaration> extends AsyncIterable<ModelRecord<D>> {
  toArray(): Promise<ModelRecord<D>[]>;
  first(): Promise<ModelRecord<D> | null>;
  /** How many there are, counted as far as a limit of 10,000 at most; `complete` is false where there are more. */
  count(options?: { readonly limit?: number }): Promise<IndexCounted>;
}

const PAGE = 100;

interface Search {
  readonly index: string;
  readonly where: readonly Condition[];
  readonly options: FindOptions;
}

export function foundRecords<D extends ModelDeclaration>(model: ModelCells, search: Search): FoundRecords<D> {
  const { index, where, options } = search;
  const { datastore, modelColumns } = model;
  const columns = modelColumns.map(({ column_name }) => column_name);

  async function* records(most = options.limit ?? Number.POSITIVE_INFINITY): AsyncGenerator<ModelRecord<D>> {
    let left = most;
    for (let after: string | undefined; left > 0;) {
      const { order, read } = options;
      const { entries, next } = await datastore.query({
        index,
        where,
        order,
        columns,
        after,
        read,
        limit: Math.min(PAGE, left),
      });
      for (const entry of entries) yield modelRecord<D>(model, entry.row_key, await cellsOf(model, entry));
      left -= entries.length;
      if (next === null) return;
      after = next;
    }
  }

  return {
    [Symbol.asyncIterator]: () => records(),
    async toArray() {
      const all: ModelRecord<D>[] = [];
      for await (const record of records()) all.push(record);
      return all;
    },
    async first() {
      for await (const record of records(1)) return record;
      return null;
    },
    count: ({ limit } = {}) => datastore.count({ index, where, limit, read: options.read }),
  };
}

/** What did not fit into the answer is read by itself. */
async function cellsOf(model: ModelCells, { row_key, cells = [] }: IndexEntry) {
  if (!('error' in cells)) return cells;
  if (cells.error instanceof SchemalessError && cells.error.code === 'answer_too_large')
    return readCells(model, row_key);
  throw cells.error;
}
