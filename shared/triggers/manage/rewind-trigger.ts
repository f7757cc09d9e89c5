import type { ShardOffset } from '../../follow/offsets.ts';
import { committedLocations, readLags } from '../../follow/follower-lag.ts';
import { readFollower } from '../../follow/follower-item.ts';
import { OffsetItems } from '../../follow/offset-items.ts';
import { rewindLocations, setLocations, type RewindTo } from '../../follow/rewind-follower.ts';
import { parsePassed, type RewindTarget } from '../../api/rewind-target.ts';
import type { ShardSkip } from '../../api/trigger-shapes.ts';
import { unread } from '../../follow/start-offsets.ts';
import type { ManagedTrigger } from './managed-trigger.ts';

/**
 * Sets a trigger to another location. The marks of its shards come first: they tell which cells are replays, and void
 * what was consumed before. Returns what it skips, by the offsets as they were in the write that moved them. Throws
 * SchemalessError `invalid_field`, `unknown_shard`: then nothing is changed; `unavailable`.
 */
export async function rewindTrigger(
  trigger: ManagedTrigger,
  target: RewindTarget,
  dryRun: boolean,
): Promise<readonly ShardSkip[]> {
  const { context, stateTable, topology, follower, store, definition } = trigger;
  const to = toRewind(target);
  const locations = await rewindLocations(context, follower.datastore, to);
  // The locations of shards that have no offset yet. A start at the end has nothing before it.
  const starts =
    definition.start === 'now' ? locations : await rewindLocations(context, follower.datastore, definition.start);
  const skipsFrom = (before: (shard: number) => Pick<ShardOffset, 'added_id'> | undefined): readonly ShardSkip[] =>
    skipsOf(locations, (shard) => (before(shard) ?? starts.get(shard))?.added_id);
  if (dryRun) {
    const committed = await committedLocations(stateTable, follower, topology.shards);
    return skipsFrom((shard) => committed[shard]);
  }
  await store.markRewound(`${new Date().toISOString().slice(0, -1)}000Z`);
  await setMarks(trigger, locations, 1);
  // Marks of consumers are of the old location.
  for (const shard of await store.troubled()) if (locations.has(shard)) await store.mark(shard, undefined);
  let skips: readonly ShardSkip[] = [];
  // After each write, so that a later failure does not hide what was skipped.
  await setLocations(stateTable, context, follower, locations, async (before) => {
    skips = skipsFrom((shard) => (before.has(shard) ? before.get(shard) : locations.get(shard)));
    await store.markSkipped({ shards: skips.length, cells: skips.reduce((sum, { cells }) => sum + cells, 0) });
  });
  // A concurrent rewind may have raised the generation further.
  await setMarks(trigger, locations, 0);
  return skips;
}

function toRewind(target: RewindTarget): RewindTo {
  if (target === 'start' || target === 'now') return target;
  if (typeof target === 'string') return { since: parsePassed(target) };
  return { shards: new Map(Object.entries(target).map(([shard, addedId]) => [Number(shard), addedId])) };
}

/** @param sentTo returns the added id that a shard was at; undefined if it skips nothing */
function skipsOf(
  locations: ReadonlyMap<number, ShardOffset>,
  sentTo: (shard: number) => number | undefined,
): readonly ShardSkip[] {
  return [...locations]
    .flatMap(([shard, { added_id: to }]) => {
      const after = sentTo(shard) ?? to;
      return to > after ? [{ shard, after, to, cells: to - after }] : [];
    })
    .sort((one, other) => one.shard - other.shard);
}

/** @param ahead generations after the current ones */
async function setMarks(
  { context, stateTable, topology, follower, store }: ManagedTrigger,
  locations: ReadonlyMap<number, ShardOffset>,
  ahead: number,
): Promise<void> {
  const { partitions = 1 } = (await readFollower(stateTable, follower)) ?? {};
  const items = new OffsetItems(stateTable, { ...follower, shards: topology.shards, partitions });
  const held = new Map(
    await Promise.all(
      [...new Set([...locations.keys()].map((shard) => shard % partitions))].map(
        async (partition) => [partition, await items.read(partition)] as const,
      ),
    ),
  );
  const logs = await readLags(
    context,
    topology,
    [...locations.keys()].map((shard) => ({ shard, after: undefined })),
  );
  await store.consumed.change([...locations.keys()], (shard, mark) => {
    const item = held.get(shard % partitions);
    const generation = (item?.generation ?? 0) + ahead;
    if (mark && mark.generation > generation) return undefined;
    const location = locations.get(shard) ?? unread(0);
    // Of two concurrent rewinds the earlier location holds.
    const { added_id, fingerprint } =
      mark?.generation === generation && mark.added_id < location.added_id ? mark : location;
    const sentTo = item?.offsets[Math.floor(shard / partitions)]?.added_id ?? 0;
    return {
      generation,
      added_id,
      fingerprint,
      replayed_to: Math.max(mark?.replayed_to ?? 0, sentTo, logs.get(shard)?.head ?? 0),
    };
  });
}
