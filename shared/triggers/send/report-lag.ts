import { requireDatastore } from '../../access/groups.ts';
import { triggerLags } from '../state/shard-lags.ts';
import type { TailRun } from './tail-run.ts';
import type { TailWork } from './tail-work.ts';

/** Reports how far consuming and sending are behind the logs, of all workers together, and repairs marks that it meets. */
export async function reportLag(
  { datastore, deployed: { definition, queueUrl }, queues, store, report }: TailWork,
  { context, stateTable }: Pick<TailRun, 'context' | 'stateTable'>,
): Promise<void> {
  const topology = await requireDatastore(context.topology, datastore);
  const waiting = await queues.depth(queueUrl).catch(() => undefined);
  const { lag, sent, cutOff } = await triggerLags({ context, stateTable, topology, definition, store }, waiting);
  if (cutOff.size > 0) await store.consumed.takeBack(cutOff);
  report({
    kind: 'lag',
    cells: lag.cells,
    seconds: lag.seconds,
    unsentCells: sent.cells,
    unsentSeconds: sent.seconds,
  });
}

/** Reports what waits for an operator, for as long as it does. */
export async function reportTroubles({ store, report }: Pick<TailWork, 'store' | 'report'>): Promise<void> {
  const [{ state, ...status }, malformed] = await Promise.all([store.status(), store.malformed()]);
  const shards = await store.shards(await store.troubled(status));
  const parked = shards.flatMap(({ cells }) => cells.filter(({ parked_at }) => parked_at !== undefined));
  report({ kind: 'troubles', isStopped: state === 'stopped', parked: parked.length, malformed: malformed.length });
}
