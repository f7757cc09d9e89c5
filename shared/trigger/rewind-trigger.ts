import { parseCount } from '../address.ts';
import { rewindFollower, type RewindTo } from '../follow/rewind-follower.ts';
import type { StoreContext } from '../store/context.ts';
import { parseShard } from '../store/parse.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import type { ManagedTrigger } from './managed-trigger.ts';
import { parsePassed } from './parse-choices.ts';
import { readLags } from './shard-lags.ts';

/**
 * Sets a trigger to another place. The mark comes first: what is sent after the offsets have moved is known as replays
 * by it.
 *
 * @throws SchemalessError `invalid_field`, `unknown_shard`: then nothing is changed; `unavailable`
 */
export async function rewindTrigger({ context, stateTable, topology, follower, store }: ManagedTrigger, to: RewindTo): Promise<void> {
  if (typeof to === 'object' && 'since' in to) parsePassed(to.since);
  if (typeof to === 'object' && 'shards' in to) await checkPlaces(context, topology, to.shards);
  await store.markRewound(`${new Date().toISOString().slice(0, -1)}000Z`);
  await rewindFollower(stateTable, context, follower, to);
}

/** Before anything is changed. Logs that cannot be read now are the rewind's to refuse. */
async function checkPlaces(context: StoreContext, topology: DatastoreTopology, places: ReadonlyMap<number, number>): Promise<void> {
  const chosen = [...places].map(([shard, addedId]) => ({ addedId, shard: parseShard(shard, topology.shards, `to.${shard}`) }));
  const logs = await readLags(context, topology, chosen.map(({ shard }) => ({ shard, after: undefined })));
  for (const { shard, addedId } of chosen) {
    const head = logs.get(shard)?.head ?? Number.MAX_SAFE_INTEGER;
    parseCount(addedId, `to.${shard}`, 0, head, `an added id from 0 to ${head}, where the log of shard ${shard} ends`);
  }
}
