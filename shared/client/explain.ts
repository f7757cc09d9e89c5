import { parseRowKey, shardDatabase, shardOf } from '../address.ts';
import type { Explanation, Query } from '../contract/index-query.ts';
import type { Call } from './calls.ts';
import { clientOver, type SchemalessClient } from './client.ts';

export interface Explained {
  readonly method: string;
  /** From the root of the API, without its query. */
  readonly path: string;
  readonly query: NonNullable<Call['query']>;
  readonly body?: unknown;
  /** The locations of its rows; none for calls that name no row. */
  readonly rows: readonly {
    readonly row_key: string;
    readonly shard: number;
    readonly group: string;
    readonly database: string;
  }[];
  /** Of a query: its shard, group and statement, and the plan. */
  readonly found?: Explanation;
}

/**
 * Returns the request that a call would send, and the shard and group that answer it, without sending it. Sends a
 * query, since only the server knows its statement; statements of other calls are unknown. For a call of several
 * requests (`putNext`, a `put` without a ref key) returns the first.
 *
 * ```ts
 * const { rows } = await explain(trips, (call) => call.getLatest({ row_key, column_name: 'BASE' }));
 * ```
 */
export async function explain(
  client: SchemalessClient,
  call: (client: SchemalessClient) => Promise<unknown>,
): Promise<Explained> {
  let sent: Call | undefined;
  const stopped = new Error('not sent');
  const send = (one: Call): Promise<never> => {
    sent = one;
    return Promise.reject(stopped);
  };
  let asked: Query | undefined;
  const recorder = clientOver({ name: client.name, send });
  const query: SchemalessClient['query'] = (one) => {
    asked = one;
    return recorder.query(one);
  };
  await call({ ...recorder, query }).catch((error: unknown) => {
    if (error !== stopped) throw error;
  });
  if (sent === undefined) throw new TypeError('explain: wanted a function that makes a call');
  const { method, path, query: parameters = {}, body } = sent;
  const rows = await homesOf(client, rowKeysOf(sent));
  const found = asked && (await client.query({ ...asked, explain: true })).explain;
  return {
    method,
    path: `/v1/${[client.name, ...path].map(encodeURIComponent).join('/')}`,
    query: parameters,
    ...(body !== undefined && { body }),
    rows,
    ...(found && { found }),
  };
}

async function homesOf(client: SchemalessClient, rowKeys: readonly string[]): Promise<Explained['rows']> {
  if (rowKeys.length === 0) return [];
  const heads = await client.heads();
  const groups = new Map(heads.map(({ shard, group }) => [shard, group]));
  return rowKeys.map((row_key) => {
    const shard = shardOf(row_key, heads.length);
    return { row_key, shard, group: groups.get(shard) ?? 'unknown', database: shardDatabase(client.name, shard) };
  });
}

function rowKeysOf({ path: [kind, rowKey], body }: Call): readonly string[] {
  if ((kind === 'cells' || kind === 'rows') && rowKey !== undefined) return [String(rowKey)];
  const { cells, keys }: { readonly [list in 'cells' | 'keys']?: readonly { readonly row_key: string }[] } =
    Object(body);
  return [...new Set((cells ?? keys ?? []).map(({ row_key }) => parseRowKey(row_key)))];
}
