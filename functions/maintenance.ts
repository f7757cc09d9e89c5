import type { Context } from 'aws-lambda';
import { randomUUID } from 'node:crypto';
import { leases } from '../shared/dynamo/lease.ts';
import type { RunSlot } from '../shared/loops-at-once.ts';
import { runErasures } from '../shared/erasures/run-erasures.ts';
import { METRICS } from '../shared/metrics.ts';
import type { RepairEvent } from '../shared/index/repair/repair-work.ts';
import { runRepair } from '../shared/index/repair/run-repair.ts';
import { openStore } from './environment/deployment.ts';
import { eventMessage } from './environment/event-message.ts';
import { logger, countTimes, gauge } from './environment/log.ts';

/** Before the time limit: finishes a page and hands over. */
const TIME_TO_END_MS = 30_000;

const ERASURES_LEASE_MS = 10_000;

/** Builds, completes and drops indexes, erases, and applies retention (in slot 0), until the next minute's run. */
export async function handler({ slot = 0 }: RunSlot, lambda: Context): Promise<void> {
  const { config, context, topologyTable, stateTable } = openStore('backupDays');
  // The alarm server-errors subtracts it: a metric without values would leave the alarm without one.
  countTimes(new Map([[METRICS.answeredIndexBuilding, 0]]));
  const deadline = Date.now() + lambda.getRemainingTimeInMillis() - TIME_TO_END_MS;
  const owner = randomUUID();
  // Awaits both: work frozen with the instance would continue in the next run.
  const ends = await Promise.allSettled([
    runRepair({ context, topologyTable, stateTable, owner, slot, deadline, report }),
    slot === 0 &&
      runErasures({
        context,
        topologyTable,
        stateTable,
        backupDays: config.backupDays,
        leases: leases(stateTable, owner, ERASURES_LEASE_MS),
        deadline,
        report: (datastore, { id, state, waits_for }) =>
          logger.info(`erasure ${state}`, { datastore, id, state, waits_for }),
        failed: (error) => logger.warn('erasures failed', { error }),
        retained: (datastore, { erasures, cells, bytes, open, behindSeconds }) => {
          gauge({ [METRICS.retentionBehindSeconds]: behindSeconds });
          if (cells === 0 && open === 0) return;
          countTimes(new Map([[METRICS.retentionErased, cells]]));
          logger.info('retention progressed', { datastore, erasures, cells, bytes, open });
        },
        measured: (open, oldest) => gauge({ [METRICS.erasuresOpen]: open, [METRICS.erasuresOldestSeconds]: oldest }),
      }),
  ]);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

function report(event: RepairEvent): void {
  const message = eventMessage(event, `index repair of ${event.datastore}`);
  if (event.kind === 'lag') gauge({ [METRICS.indexLagCells]: event.cells });
  if (event.kind === 'repaired') countTimes(new Map([[METRICS.indexRepaired, event.entries]]));
  if (event.kind === 'failed' || event.kind === 'pending') logger.warn(message, { event });
  // Partitions change every minute.
  else if (event.kind === 'lag' || (event.kind === 'followed' && event.event.kind.startsWith('partition_')))
    logger.debug(message, { event });
  else if (event.kind !== 'followed') logger.info(message, { event });
  else logger.warn(message, { event });
}
