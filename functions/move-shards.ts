import type { Context } from 'aws-lambda';
import { randomUUID } from 'node:crypto';
import { openCircuits } from '../shared/access/open-circuits.ts';
import { leases } from '../shared/dynamo/lease.ts';
import { METRICS } from '../shared/metrics.ts';
import { LEASE_MS, runMoves } from '../shared/moves/run-moves.ts';
import { openStore } from './environment/deployment.ts';
import { logger, count, gauge } from './environment/log.ts';

/** Before the time limit: finishes a page or a switch, and releases the lease. */
const TIME_TO_END_MS = 15_000;

/** Moves shards until the next minute's run takes over. */
export async function handler(_event: unknown, lambda: Context): Promise<void> {
  const { context, topologyTable, stateTable } = openStore();
  const circuits = openCircuits(stateTable);
  await runMoves({
    context,
    topologyTable,
    stateTable,
    leases: leases(stateTable, randomUUID(), LEASE_MS),
    deadline: Date.now() + lambda.getRemainingTimeInMillis() - TIME_TO_END_MS,
    tellMoved: () => circuits.tellMoved(),
    measured: (moves) => gauge({ [METRICS.moves]: moves }),
    report({ datastore, shard, from, to, step, last_error }, error) {
      const about = { datastore, shard, from, to, step };
      if (error === undefined) logger.info(`move is ${step}`, { ...about, last_error });
      else {
        count([METRICS.moveErrors]);
        logger.warn(`move failed while ${step}, and will be retried`, { ...about, error });
      }
    },
  });
}
