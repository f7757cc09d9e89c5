import type { StoreContext } from '../access/context.ts';
import { selectFencedShards, toFencedShards, type FencedShard } from '../sql/statements/select-fenced-shards.ts';
import { SchemalessError } from '../errors.ts';
import { SqlError } from '../sql/client.ts';
import { selectUndecidedShards, toUndecidedShards, releaseUndecided } from '../sql/statements/undecided-copies.ts';
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

/** Gives undecided hints back to the drain once their shards, as far as they can be asked, take appends. */
export async function releaseOpened(context: StoreContext, holder: string): Promise<void> {
  const client = await context.groups.client(holder);
  const undecided = toUndecidedShards(await client.select(selectUndecidedShards(), 'writer'));
  const owned = await Promise.all(
    undecided.map(async (one) => ({
      ...one,
      primary: (await context.topology.datastore(one.datastore))?.homes[one.shard]?.group,
    })),
  );
  for (const [primary, shards] of Map.groupBy(owned, (one) => one.primary)) {
    if (primary === undefined) continue;
    const fenced = await namesOfFenced(context, primary);
    const open = fenced ? shards.filter((shard) => !fenced.has(nameOf(shard))) : [];
    for (const [datastore, some] of Map.groupBy(open, (one) => one.datastore))
      await client.change(releaseUndecided(datastore, some));
  }
}

async function namesOfFenced(context: StoreContext, primary: string): Promise<ReadonlySet<string> | undefined> {
  try {
    return new Set((await fencedShards(context, primary)).map(nameOf));
  } catch (error) {
    if (!(error instanceof SqlError) && !(error instanceof SchemalessError)) throw error;
    context.report({ kind: 'primary_failed', group: primary, error });
    return undefined;
  }
}
