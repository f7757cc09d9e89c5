import type { Context } from 'aws-lambda';
import { randomUUID } from 'node:crypto';
import { LEASE_MS, runDrain } from '../shared/drain/run-drain.ts';
import { leases } from '../shared/lease/lease.ts';
import { METRICS } from '../shared/metrics.ts';
import { openContext, type StoreContext } from '../shared/store/context.ts';
import { readConfig } from './config.ts';
import { deploymentOptions } from './deployment.ts';
import { dynamoClient } from './dynamo.ts';
import { logger } from './http/log.ts';
import { gauge } from './http/metrics.ts';

/** Before the function's time limit: enough to finish a page and release the leases. */
const TIME_TO_END_MS = 15_000;

let opened: StoreContext | undefined;

/** Started every minute; drains the buffer tables of all groups until the next run has taken over. */
export async function handler(_event: unknown, lambda: Context): Promise<void> {
  const config = readConfig();
  opened ??= openContext(deploymentOptions(config));
  await runDrain({
    context: opened,
    leases: leases({ client: dynamoClient(), table: config.stateTable }, randomUUID(), LEASE_MS),
    deadline: Date.now() + lambda.getRemainingTimeInMillis() - TIME_TO_END_MS,
    measured: (group, { rows, oldest_age, parked, conflicts }) => {
      logger.debug('buffer', { group, rows, oldest_age, parked, conflicts });
      gauge({ [METRICS.bufferRows]: rows, [METRICS.bufferOldestSeconds]: oldest_age ?? 0, [METRICS.bufferParked]: parked, [METRICS.bufferConflicts]: conflicts });
    },
    recovered: (group, cells) => logger.warn('a new writer has every acknowledged cell again', { group, cells }),
    report: (group, { unreachable, ...counts }) => logger.info('drained', { group, ...counts, unreachable: [...unreachable] }),
  });
}
