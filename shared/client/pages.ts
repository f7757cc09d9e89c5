import type { Cell } from '../cell.ts';
import type { VersionsOptions } from '../contract/datastore.ts';
import type { IndexEntry, Query } from '../contract/index-query.ts';
import type { SchemalessClient } from './client.ts';
import { ofClient, type OfClient } from './of-client.ts';

type Versions = Pick<SchemalessClient, 'versions'>;
type Queries = Pick<SchemalessClient, 'query'>;

/**
 * Yields all cells of a column, newest first by default, a page at a time.
 *
 * ```ts
 * for await (const cell of versions(trips, { row_key, column_name: 'BASE' })) …
 * ```
 *
 * @param options `limit` is that of a page
 */
export async function* versions<Client>(
  given: OfClient<Client, Versions>,
  key: Parameters<SchemalessClient['versions']>[0],
  options: VersionsOptions = {},
): AsyncGenerator<Cell, void, undefined> {
  const client = ofClient<Versions>(given, 'versions');
  for (let { after } = options; ;) {
    const { cells, next } = await client.versions(key, { ...options, after });
    yield* cells;
    if (next === null) return;
    after = next;
  }
}

/** Yields all entries of a query, a page at a time. `query`: `limit` is that of a page. */
export async function* queryAll<Client>(
  given: OfClient<Client, Queries>,
  query: Query,
): AsyncGenerator<IndexEntry, void, undefined> {
  const client = ofClient<Queries>(given, 'queryAll');
  for (let { after } = query; ;) {
    const { entries, next } = await client.query({ ...query, after });
    yield* entries;
    if (next === null) return;
    after = next;
  }
}
