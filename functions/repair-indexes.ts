import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Context } from 'aws-lambda';
import { randomUUID } from 'node:crypto';
import { STORE_VARIABLES } from '../shared/environment.ts';
import { METRICS } from '../shared/metrics.ts';
import type { RepairEvent } from '../shared/index/repair/repair-work.ts';
import { runRepair } from '../shared/index/repair/run-repair.ts';
import { openContext, type StoreContext } from '../shared/access/context.ts';
import { readConfig } from './environment/config.ts';
import { deploymentOptions } from './environment/deployment.ts';
import { logger } from './environment/log.ts';
import { countTimes, gauge } from './environment/metrics.ts';

/** Before the function's time limit: enough to finish a page and hand over what is held. */
const TIME_TO_END_MS = 30_000;

let opened: StoreContext | undefined;

/**
 * Started every minute; completes, builds and drops the indexes of all datastores until the next run has taken over.
 */
export async function handler(_event: unknown, lambda: Context): Promise<void> {
  const config = readConfig(STORE_VARIABLES);
  opened ??= openContext(deploymentOptions(config));
  const client = new DynamoDBClient();
  await runRepair({
    context: opened,
    topologyTable: { client, table: config.topologyTable },
    stateTable: { client, table: config.stateTable },
    owner: randomUUID(),
    deadline: Date.now() + lambda.getRemainingTimeInMillis() - TIME_TO_END_MS,
    report,
  });
  client.destroy();
}

function report(event: RepairEvent): void {
  if (event.kind === 'lag') gauge({ [METRICS.indexLagCells]: event.cells });
  if (event.kind === 'repaired') countTimes(new Map([[METRICS.indexRepaired, event.entries]]));
  if (event.kind === 'failed' || event.kind === 'pending') logger.warn('repair', { event });
  // Who holds which partition changes every minute.
  else if (event.kind === 'lag' || (event.kind === 'followed' && event.event.kind.startsWith('partition_')))
    logger.debug('repair', { event });
  else if (event.kind !== 'followed') logger.info('repair', { event });
  else logger.warn('repair', { event });
}
