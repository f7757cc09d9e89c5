import type { Context } from 'aws-lambda';
import { randomUUID } from 'node:crypto';
import { openContext, type StoreContext } from '../shared/access/context.ts';
import { openCircuits } from '../shared/access/open-circuits.ts';
import { leases } from '../shared/dynamo/lease.ts';
import { STORE_VARIABLES } from '../shared/environment.ts';
import { METRICS } from '../shared/metrics.ts';
import { LEASE_MS, runMoves } from '../shared/moves/run-moves.ts';
import { readConfig } from './environment/config.ts';
import { deploymentOptions } from './environment/deployment.ts';
import { dynamoClient } from './environment/dynamo.ts';
import { logger, count, gauge } from './environment/log.ts';

/** Before the time limit: finishes a page or a switch, and releases the lease. */
const TIME_TO_END_MS = 15_000;

let opened: StoreContext | undefined;

/** Moves shards until the next minute's run takes over. */
export async function handler(_event: unknown, lambda: Context): Promise<void> {
  const config = readConfig(STORE_VARIABLES);
  opened ??= openContext(deploymentOptions(config));
  const state = { client: dynamoClient(), table: config.stateTable };
  const circuits = openCircuits(state);
  await runMoves({
    context: opened,
    topologyTable: { ...state, table: config.topologyTable },
    stateTable: state,
    leases: leases(state, randomUUID(), LEASE_MS),
    deadline: Date.now() + lambda.getRemainingTimeInMillis() - TIME_TO_END_MS,
    tellMoved: () => circuits.tellMoved(),
    measured: (moves) => gauge({ [METRICS.moves]: moves }),
    report({ datastore, shard, from, to, step, last_error }, error) {
      const about = { datastore, shard, from, to, step };
      if (error === undefined) logger.info('move', { ...about, last_error });
      else {
        count([METRICS.moveErrors]);
        logger.warn('a move stumbled', { ...about, error });
      }
    },
  });
}
