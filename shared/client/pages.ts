import type { Cell } from '../cell.ts';
import type { VersionsOptions } from '../contract/datastore.ts';
import type { IndexEntry, IndexQuery } from '../contract/index-query.ts';
import type { SchemalessClient } from './client.ts';

/**
 * All cells of a column, newest first unless told otherwise, a page at a time.
 *
 * ```ts
 * for await (const cell of versions(trips, { row_key, column_name: 'BASE' })) …
 * ```
 *
 * @param options `limit` is that of a page
 */
export async function* versions(
  client: Pick<SchemalessClient, 'versions'>,
  key: Parameters<SchemalessClient['versions']>[0],
  options: VersionsOptions = {},
): AsyncGenerator<Cell, void, undefined> {
  for (let { after } = options; ;) {
    const { cells, next } = await client.versions(key, { ...options, after });
    yield* cells;
    if (next === null) return;
    after = next;
  }
}

/** All entries that a query finds, a page at a time. `query`: `limit` is that of a page. */
export async function* queryAll(
  client: Pick<SchemalessClient, 'query'>,
  query: IndexQuery,
): AsyncGenerator<IndexEntry, void, undefined> {
  for (let { after } = query; ;) {
    const { entries, next } = await client.query({ ...query, after });
    yield* entries;
    if (next === null) return;
    after = next;
  }
}
