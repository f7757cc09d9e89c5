import type { StoreContext } from '../access/context.ts';
import { selectFencedShards, toFencedShards, type FencedShard } from '../sql/statements/select-fenced-shards.ts';

/**
 * The shards of a group that take no appends from who is its writer now, since that may lack acknowledged cells: of
 * those that the topology says are the group's.
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
