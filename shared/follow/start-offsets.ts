import { findLocations, toAfterIds } from '../sql/statements/find-locations.ts';
import { selectHeads, toHeads } from '../sql/statements/select-heads.ts';
import type { StoreContext } from '../store/context.ts';
import { askEither } from '../store/read-group.ts';
import { parseTime } from '../time.ts';
import type { ShardOffset } from './encode-offsets.ts';
import { UNKNOWN_FINGERPRINT } from './fingerprint.ts';
import type { StartPlace } from './follower.ts';

/**
 * Where a start lies in each shard of one group, by its writer's log. The fingerprints are unknown: the cells at these
 * places give them when they are first read.
 *
 * @throws SchemalessError `unavailable`, and `invalid_field` for a time that cannot be read
 */
export async function startOffsets(context: StoreContext, group: string, datastore: string, shards: readonly number[], start: StartPlace): Promise<Map<number, ShardOffset>> {
  if (start === 'start') return new Map(shards.map((shard) => [shard, unread(0)]));
  const client = await context.groups.client(group);
  if (start === 'now') {
    const heads = toHeads((await askEither(client, group, 'writer', selectHeads(datastore, shards))).rows);
    return new Map(shards.map((shard) => [shard, unread(heads.get(shard) ?? 0)]));
  }
  const since = parseTime(start.since, 'since');
  const after = toAfterIds((await askEither(client, group, 'writer', findLocations(datastore, shards.map((shard) => ({ shard, since }))))).rows);
  return new Map(shards.map((shard, item) => [shard, unread(after[item] ?? 0)]));
}

/** An added id whose cell was not looked at. */
export function unread(addedId: number): ShardOffset {
  return { added_id: addedId, fingerprint: addedId === 0 ? '' : UNKNOWN_FINGERPRINT, epoch: 0 };
}
