/** A thread that drains the buffer tables, as the scheduled function does, until it is ended. */
import { randomUUID } from 'node:crypto';
import { LEASE_MS, runDrain } from '../../../shared/drain/run-drain.ts';
import { leases } from '../../../shared/dynamo/lease.ts';
import { dynamoClient } from '../dynamo.ts';
import { openStore, type StoreAccess } from '../store-access.ts';
import { runAsWorker } from './worker-side.ts';

/** How long a run of the function lasts; the next one takes over then. */
const RUN_MS = 60_000;

await runAsWorker<StoreAccess, 'stop', DrainCounts, DrainCounts>(async (access, control) => {
  await using store = await openStore(access);
  const state = { client: dynamoClient(access.dynamo), table: access.stateTable };
  const counts: Record<keyof DrainCounts, number> = { drained: 0, appended: 0, conflicts: 0, failed: 0 };
  control.ready();
  while (control.stopped === undefined) {
    await runDrain({
      context: store.context,
      leases: leases(state, randomUUID(), LEASE_MS),
      deadline: Date.now() + RUN_MS,
      report: (_group, report) => {
        for (const key of Object.keys(counts) as (keyof DrainCounts)[]) counts[key] += report[key];
        control.say({ ...counts });
      },
    });
  }
  return counts;
});

export interface DrainCounts {
  /** Buffered writes deleted, since every node shows them. */
  readonly drained: number;
  /** Buffered writes appended to a primary that lacked them. */
  readonly appended: number;
  readonly conflicts: number;
  readonly failed: number;
}
