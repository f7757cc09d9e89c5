import type { StoreContext } from '../access/context.ts';
import { selectFencedShards, toFencedShards, type FencedShard } from '../sql/statements/select-fenced-shards.ts';
import { SchemalessError } from '../errors.ts';
import { SqlError } from '../sql/client.ts';
import { selectShardsInDoubt, toShardsInDoubt, releaseInDoubt } from '../sql/statements/copies-in-doubt.ts';
import { nameOf } from './turns.ts';

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

/** Returns hints in doubt to the drain once their shards, as far as they can be asked, take appends. */
export async function releaseOpened(context: StoreContext, hintHolder: string): Promise<void> {
  const client = await context.groups.client(hintHolder);
  const inDoubt = toShardsInDoubt(await client.select(selectShardsInDoubt(), 'writer'));
  const owned = await Promise.all(
    inDoubt.map(async (one) => ({
      ...one,
      primary: (await context.topology.datastore(one.datastore))?.homes[one.shard]?.group,
    })),
  );
  for (const [primary, shards] of Map.groupBy(owned, (one) => one.primary)) {
    if (primary === undefined) continue;
    const fenced = (await askPrimary(context, primary, () => fencedShards(context, primary)))?.map(nameOf);
    const open = fenced ? shards.filter((shard) => !fenced.includes(nameOf(shard))) : [];
    for (const [datastore, some] of Map.groupBy(open, (one) => one.datastore))
      await client.change(releaseInDoubt(datastore, some));
  }
}

/** Asks a group something; reports where it fails, and returns undefined. Throws any other error. */
export async function askPrimary<T>(
  context: StoreContext,
  primary: string,
  ask: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof SqlError) && !(error instanceof SchemalessError)) throw error;
    context.report({ kind: 'primary_failed', group: primary, error });
    return undefined;
  }
}
