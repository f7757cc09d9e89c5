import type { StoreContext } from '../access/context.ts';
import { selectFencedShards, toFencedShards, type FencedShard } from '../sql/statements/select-fenced-shards.ts';

/** Returns shards whose writer may lack acknowledged cells, and takes no appends. Throws `SqlError`. */
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
