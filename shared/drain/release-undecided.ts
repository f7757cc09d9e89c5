import { selectFencedShards, toFencedShards } from '../sql/statements/select-fenced-shards.ts';
import { selectUndecidedShards, toUndecidedShards } from '../sql/statements/select-undecided-shards.ts';
import { releaseUndecided } from '../sql/statements/undecided-copies.ts';
import { groupBy, type StoreContext } from '../store/context.ts';
import { nameOf } from './turns.ts';

/**
 * Gives the copies back to the drain that a group holds as undecided for shards that take appends again: an operator chose
 * among them, or the former writer, which has every acknowledged cell, is back.
 *
 * @throws SqlError when the group, or one of the primaries, cannot be asked
 */
export async function releaseOpened(context: StoreContext, holder: string): Promise<void> {
  const client = await context.groups.client(holder);
  const undecided = toUndecidedShards(await client.select(selectUndecidedShards(), 'writer'));
  const owned = await Promise.all(undecided.map(async (one) => ({ ...one, primary: (await context.topology.datastore(one.datastore))?.places[one.shard]?.group })));
  for (const [primary, shards] of groupBy(owned, (one) => one.primary)) {
    if (primary === undefined) continue;
    const fenced = new Set(toFencedShards(await (await context.groups.client(primary)).select(selectFencedShards(), 'writer')).map(nameOf));
    const open = shards.filter((shard) => !fenced.has(nameOf(shard)));
    for (const [datastore, some] of groupBy(open, (one) => one.datastore)) await client.change(releaseUndecided(datastore, some.map(({ shard }) => shard)));
  }
}
