import type { Context } from 'aws-lambda';
import { randomUUID } from 'node:crypto';
import { progressItems } from '../shared/drain/progress-item.ts';
import { LEASE_MS, runDrain } from '../shared/drain/run-drain.ts';
import { leases } from '../shared/dynamo/lease.ts';
import { STORE_VARIABLES } from '../shared/environment.ts';
import { METRICS } from '../shared/metrics.ts';
import { openContext, type StoreContext } from '../shared/access/context.ts';
import { readConfig } from './environment/config.ts';
import { deploymentOptions } from './environment/deployment.ts';
import { dynamoClient } from './environment/dynamo.ts';
import { logger, gauge } from './environment/log.ts';

/** Before the time limit: finishes a page and releases leases. */
const TIME_TO_END_MS = 15_000;

let opened: StoreContext | undefined;

/** Drains all buffer tables and restores what writers lack, until the next minute's run takes over. */
export async function handler(_event: unknown, lambda: Context): Promise<void> {
  const config = readConfig([...STORE_VARIABLES, 'keepCopies']);
  opened ??= openContext(deploymentOptions(config));
  const state = { client: dynamoClient(), table: config.stateTable };
  await runDrain({
    context: opened,
    leases: leases(state, randomUUID(), LEASE_MS),
    progress: progressItems(state),
    topologyTable: { ...state, table: config.topologyTable },
    settings: { keepCopiesSeconds: config.keepCopies },
    deadline: Date.now() + lambda.getRemainingTimeInMillis() - TIME_TO_END_MS,
    measured: (group, status) => {
      const { rows, oldest_age, parked, conflicts, undecided } = status;
      logger.debug('buffer', { group, ...status });
      gauge({
        [METRICS.bufferRows]: rows,
        [METRICS.bufferOldestSeconds]: oldest_age ?? 0,
        [METRICS.bufferParked]: parked,
        [METRICS.bufferConflicts]: conflicts,
        [METRICS.bufferUndecided]: undecided,
      });
    },
    recovered: (group, { appended, opened, closed }) =>
      logger.warn('a new writer gets what it lacks', {
        group,
        appended,
        opened,
        closed: closed.length,
        first: closed[0],
      }),
    report: (group, { unreachable, refused, ...counts }) =>
      logger.info('drained', { group, ...counts, unreachable: [...unreachable], refused: [...refused] }),
  });
}
