import type { StoreContext } from '../access/context.ts';
import { selectFencedShards, toFencedShards, type FencedShard } from '../sql/statements/select-fenced-shards.ts';

/**
 * Returns the shards of a group that take no appends from its writer, which may lack acknowledged cells.
 *
 * @throws SqlError when the writer cannot be asked
 */
export async function fencedShards(
  { groups, topology }: Pick<StoreContext, 'groups' | 'topology'>,
  primary: string,
): Promise<readonly FencedShard[]> {
  const writer = await groups.client(primary);
  const own: FencedShard[] = [];
  for (const one of toFencedShards(await writer.select(selectFencedShards(), 'writer')))
    if ((await topology.datastore(one.datastore))?.homes[one.shard]?.group === primary) own.push(one);
  return own;
}
