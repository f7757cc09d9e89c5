import type { Context } from 'aws-lambda';
import { randomUUID } from 'node:crypto';
import { progressItems } from '../shared/drain/progress-item.ts';
import { LEASE_MS, runDrain } from '../shared/drain/run-drain.ts';
import { leases } from '../shared/dynamo/lease.ts';
import type { RunSlot } from '../shared/loops-at-once.ts';
import { METRICS } from '../shared/metrics.ts';
import { openStore } from './environment/deployment.ts';
import { logger, gauge } from './environment/log.ts';

/** Before the time limit: finishes a page and releases leases. */
const TIME_TO_END_MS = 15_000;

/** Drains its slot's buffer tables and restores writers' missing cells, until the next minute's run takes over. */
export async function handler({ slot, of }: RunSlot, lambda: Context): Promise<void> {
  const { config, context, topologyTable, stateTable } = openStore('keepCopies');
  await runDrain({
    slot,
    of,
    context,
    leases: leases(stateTable, randomUUID(), LEASE_MS),
    progress: progressItems(stateTable),
    topologyTable,
    settings: { keepCopiesSeconds: config.keepCopies },
    deadline: Date.now() + lambda.getRemainingTimeInMillis() - TIME_TO_END_MS,
    measured: (group, status) => {
      const { rows, oldest_age, parked, conflicts, in_doubt } = status;
      logger.debug('buffer', { group, ...status });
      gauge({
        [METRICS.bufferRows]: rows,
        [METRICS.bufferOldestSeconds]: oldest_age ?? 0,
        [METRICS.bufferParked]: parked,
        [METRICS.bufferConflicts]: conflicts,
        [METRICS.bufferInDoubt]: in_doubt,
      });
    },
    recovered: (group, { appended, opened, closed }) =>
      logger.warn('cells restored to a new writer', {
        group,
        appended,
        opened,
        closed: closed.length,
        first: closed[0],
      }),
    report: (group, { unreachable, refused, ...counts }) =>
      logger.info(`buffer of ${group} drained`, {
        group,
        ...counts,
        unreachable: [...unreachable],
        refused: [...refused],
      }),
  });
}
