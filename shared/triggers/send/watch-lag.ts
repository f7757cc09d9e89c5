import { nowAndThen } from '../../now-and-then.ts';
import { committedLocations } from '../../follow/follower-lag.ts';
import { requireDatastore } from '../../access/groups.ts';
import { triggerFollower } from '../state/follower-name.ts';
import { triggerLags } from '../state/shard-lags.ts';
import type { TailRun } from './tail-run.ts';
import type { TailWork } from './tail-work.ts';

/**
 * Tells now and then how far consuming and sending are behind the logs, for all workers: one of them does it for all.
 * Until the signal.
 */
export async function watchLag(
  work: TailWork,
  { context, stateTable }: Pick<TailRun, 'context' | 'stateTable'>,
  signal: AbortSignal,
): Promise<void> {
  const {
    datastore,
    deployed: { definition, queueUrl },
    queues,
    store,
    report,
  } = work;
  const follower = { name: triggerFollower(definition.name), datastore };
  const look = async (): Promise<void> => {
    const topology = await requireDatastore(context.topology, datastore);
    const [locations, marks] = await Promise.all([
      committedLocations(stateTable, follower, topology.shards),
      store.consumed.read(topology.homes.keys().toArray()),
    ]);
    const waiting = await queues.depth(queueUrl).catch(() => undefined);
    const { lag, sent } = await triggerLags(context, topology, {
      start: definition.start,
      locations,
      marks,
      waiting,
    });
    report({
      kind: 'lag',
      cells: lag.cells,
      seconds: lag.seconds,
      unsentCells: sent.cells,
      unsentSeconds: sent.seconds,
    });
  };
  const failed = (error: unknown): void => work.report({ kind: 'failed', what: 'looking how far it is', error });
  await nowAndThen({ everyMs: work.settings.lagEveryMs, look, failed }, signal);
}
