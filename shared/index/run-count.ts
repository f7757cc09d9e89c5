import { parseCount, parseRead } from '../address.ts';
import { LIMITS } from '../cell.ts';
import type { StoreContext } from '../access/context.ts';
import { homeOf, requireDatastore } from '../access/groups.ts';
import { askEither } from '../access/ask-parts.ts';
import type { IndexCount, IndexCounted } from '../contract/index-query.ts';
import { toNumber } from '../sql/cell-rows.ts';
import { parseForIndex, type IndexesAsked } from './query.ts';
import { countFound } from './statements/count-found.ts';

/** Counts what a query finds, with one statement to one shard. Throws as `runQuery`. */
export async function runCount(
  context: StoreContext,
  asked: IndexesAsked,
  { index: name, where, limit, read, hashed }: IndexCount,
): Promise<IndexCounted> {
  const most = parseCountLimit(limit);
  const topology = await requireDatastore(context.topology, asked.datastore);
  const { index, parsed } = await parseForIndex(asked, { index: name, where, hashed }, topology.shards);
  const { group } = homeOf(topology, parsed.shard);
  const client = await context.groups.client(group);
  const statement = countFound(asked.datastore, index, parsed, most + 1);
  const { role, rows } = await context.admit(group, () => askEither(client, group, parseRead(read), statement));
  const found = toNumber(rows[0]?.[0]);
  return { count: Math.min(found, most), complete: found <= most, served_by: role, stale: role === 'reader' };
}

export function parseCountLimit(limit: number = LIMITS.countedEntries): number {
  return parseCount(limit, 'limit', 1, LIMITS.countedEntries);
}
