import { parseCount, parseShard } from '../address.ts';
import { selectHeads, toHeads } from '../sql/statements/select-heads.ts';
import type { StoreContext } from '../access/context.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import { requireDatastore, byGroup } from '../access/groups.ts';
import { deleteState } from '../dynamo/state-table.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { followerKey, openFollower, readFollower, tellChange, type FollowerName } from './follower-item.ts';
import { askAllParts, partsOf } from '../access/ask-parts.ts';
import type { ShardOffset } from './offsets.ts';
import { OffsetItems } from './offset-items.ts';
import { findStarts, unread } from './start-offsets.ts';

/** The start of every log, its end, a time (inclusive), or for some shards the added id after which to go on. */
export type RewindTo = 'start' | 'now' | { readonly since: string } | { readonly shards: ReadonlyMap<number, number> };

/**
 * Returns where each shard continues after a rewind. Throws SchemalessError `unknown_shard`; `invalid_field` for an
 * added id below 0 or past the log's end; `unavailable` if the logs cannot be read.
 */
export async function rewindLocations(
  context: StoreContext,
  datastore: string,
  to: RewindTo,
): Promise<ReadonlyMap<number, ShardOffset>> {
  const topology = await requireDatastore(context.topology, datastore);
  if (typeof to === 'object' && 'shards' in to) return chosenLocations(context, topology, to.shards);
  const all = topology.homes.map((_, shard) => ({ shard }));
  const starts = await Promise.all(
    [...byGroup(topology, all)].map(([group, items]) => {
      const shards = items.map(({ shard }) => shard);
      return findStarts(context, group, datastore, shards, to);
    }),
  );
  for (const error of starts.flatMap(({ refused }) => [...refused.values()])) throw error;
  return new Map(starts.flatMap(({ found }) => [...found]));
}

/**
 * Sets some shards to other locations, and raises the generations. Workers notice within two seconds, and nothing that
 * they do in the meantime moves the offsets. `moved`: called after each write with the former offsets of the shards
 * moved so far; undefined if not begun.
 */
export async function setLocations(
  stateTable: DynamoTable,
  context: StoreContext,
  follower: FollowerName,
  locations: ReadonlyMap<number, ShardOffset>,
  moved: (before: ReadonlyMap<number, ShardOffset | undefined>) => Promise<void> = async () => undefined,
): Promise<void> {
  const topology = await requireDatastore(context.topology, follower.datastore);
  const { partitions } = await openFollower(stateTable, follower, topology.shards);
  const items = new OffsetItems(stateTable, { ...follower, shards: topology.shards, partitions });
  const before = new Map<number, ShardOffset | undefined>();
  for (const partition of new Set([...locations.keys()].map((shard) => shard % partitions))) {
    await items.rewind(partition, (offsets) =>
      offsets.map((offset, at) => {
        const shard = partition + at * partitions;
        const location = locations.get(shard);
        if (location) before.set(shard, offset);
        return location ?? offset;
      }),
    );
    await moved(before);
  }
  await tellChange(stateTable, follower);
}

/** Deletes the state of a follower. Call it once none of its workers runs: a running one would recreate it. */
export async function forgetFollower(stateTable: DynamoTable, follower: FollowerName): Promise<void> {
  const { partitions = 0 } = (await readFollower(stateTable, follower)) ?? {};
  const items = new OffsetItems(stateTable, { ...follower, shards: partitions, partitions });
  for (let partition = 0; partition < partitions; partition += 1) await items.forget(partition);
  await deleteState(stateTable, followerKey(follower));
}

async function chosenLocations(
  context: StoreContext,
  topology: DatastoreTopology,
  chosen: ReadonlyMap<number, number>,
): Promise<Map<number, ShardOffset>> {
  const shards = [...chosen.keys()].map((shard) => ({ shard: parseShard(shard, topology.shards, `to.${shard}`) }));
  for (const [group, items] of byGroup(topology, shards)) {
    const statement = selectHeads(
      topology.datastore,
      items.map(({ shard }) => shard),
    );
    const client = await context.groups.client(group);
    const heads = toHeads((await askAllParts(client, group, 'writer', partsOf(statement))).rows);
    for (const { shard } of items) {
      const head = heads.get(shard) ?? 0;
      const wanted = `an added id from 0 to ${head}, where the log of shard ${shard} ends`;
      parseCount(chosen.get(shard), `to.${shard}`, 0, head, wanted);
    }
  }
  return new Map([...chosen].map(([shard, id]) => [shard, unread(id)]));
}
