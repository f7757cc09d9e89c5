import { setTimeout as sleep } from 'node:timers/promises';
import { SchemalessError } from '../errors.ts';
import { SqlError } from '../sql/client.ts';
import { placeOf } from '../store/context.ts';
import { requireDatastore } from '../topology/groups.ts';
import { followShards, type FollowWork, type ShardAtWork } from './follow-shards.ts';
import { HandleError } from './give-cells.ts';
import type { HeldShard } from './held-partition.ts';
import type { Holdings } from './holdings.ts';
import { adaptivePause, pauseFor, untilMultiple, type PassEnd, type Pauses } from './pace.ts';

/** Shards that one statement reads: 64 take about 1 ms, far more take longer each. */
export const SHARDS_A_PAGE = 64;

const ORDER: readonly PassEnd[] = ['none', 'failed', 'some', 'full'];

/**
 * Follows the shards of one group among those held, again and again until the signal. Each group has a loop of its own,
 * so that one that is away, or slow to be handled, keeps nobody waiting.
 */
export async function followGroup(work: FollowWork, group: string, holdings: Holdings, pauses: Pauses, signal: AbortSignal): Promise<void> {
  const pauseAfter = adaptivePause(pauses);
  const failing = new Set<string>();
  while (!signal.aborted) {
    const shards = await shardsOf(work, group, holdings).catch(() => []);
    // Holding nothing costs nothing: what is taken next is not to wait for a long pause to end.
    let end: PassEnd = holdings.open().length === 0 ? 'some' : 'none';
    for (let start = 0; start < shards.length && !signal.aborted; start += SHARDS_A_PAGE) {
      const came = await onePage(work, group, shards.slice(start, start + SHARDS_A_PAGE), failing);
      if (ORDER.indexOf(came) > ORDER.indexOf(end)) end = came;
    }
    const pause = pauseAfter(end);
    await pauseFor(pauses.aligned ? untilMultiple(pause) : pause, signal);
    // A pause of none still lets timers and other groups have their turn.
    if (end === 'full') await sleep(0);
  }
}

/** Those whose cells are wanted now; a shard whose place to begin is not known yet finds it in any case. */
async function shardsOf({ context, follower }: FollowWork, group: string, holdings: Holdings) {
  const topology = await requireDatastore(context.topology, follower.datastore);
  const isWanted = ({ shard, offset }: HeldShard): boolean => placeOf(topology, shard).group === group && (!offset || follower.wants?.(shard, offset.added_id) !== false);
  return holdings.open().flatMap((partition) => partition.shards.filter(isWanted).map((held) => ({ partition, held })));
}

async function onePage(work: FollowWork, group: string, shards: readonly Omit<ShardAtWork, 'tenure'>[], failing: Set<string>): Promise<PassEnd> {
  const page = shards.filter(({ partition, held }) => partition.isOpen() && !held.isBusy).map((at) => ({ ...at, tenure: at.partition.tenure() }));
  if (page.length === 0) return 'none';
  for (const { partition, held } of page) {
    partition.enter();
    held.isBusy = true;
  }
  try {
    const end = await followShards(work, group, page);
    failing.clear();
    return end;
  } catch (error) {
    const kind = error instanceof HandleError ? 'handle_failed' : 'group_failed';
    if (!failing.has(kind)) work.report({ kind, group, error });
    failing.add(kind);
    // A statement refused may mean that a shard is not here any more.
    if (error instanceof SchemalessError && error.cause instanceof SqlError && error.cause.failure === 'rejected') work.context.topology.refresh();
    return 'failed';
  } finally {
    for (const { partition, held } of page) {
      partition.leave();
      held.isBusy = false;
    }
  }
}
