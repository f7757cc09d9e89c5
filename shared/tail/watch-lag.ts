import { committedOffsets } from '../follow/follower-lag.ts';
import { pauseFor } from '../follow/pace.ts';
import { requireDatastore } from '../topology/groups.ts';
import { triggerFollower } from '../trigger/follower-name.ts';
import { shardLags, sumLags } from '../trigger/shard-lags.ts';
import type { TailRun } from './run-tailers.ts';
import type { TailWork } from './tail-work.ts';

/**
 * Tells now and then how far sending is behind the logs, by the offsets of all workers: one of them does it for all.
 * Until the signal.
 */
export async function watchLag({ datastore, deployed: { definition }, settings, report }: TailWork, { context, stateTable }: Pick<TailRun, 'context' | 'stateTable'>, signal: AbortSignal): Promise<void> {
  const follower = { name: triggerFollower(definition.name), datastore };
  let failing = false;
  while (!signal.aborted) {
    try {
      const topology = await requireDatastore(context.topology, datastore);
      const { cells, seconds } = sumLags(await shardLags(context, topology, await committedOffsets(stateTable, follower, topology.shards), definition.start));
      report({ kind: 'lag', cells, seconds });
      failing = false;
    } catch (error) {
      if (!failing) report({ kind: 'failed', what: 'looking how far it is', error });
      failing = true;
    }
    await pauseFor(settings.lagEveryMs, signal);
  }
}
