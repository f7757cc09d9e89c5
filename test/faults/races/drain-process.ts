/** A process that drains the buffer tables of all datastores, also of those that come meanwhile, until it is killed. */
import { randomUUID } from 'node:crypto';
import { LEASE_MS, runDrain } from '../../../shared/drain/run-drain.ts';
import { leases } from '../../../shared/dynamo/lease.ts';
import { openIndexed, type IndexedAccess } from '../../support/indexed/indexed-store.ts';
import { runAsProcess } from '../../support/processes/process-side.ts';

const RUN_MS = 60_000;
/** The topology is cached for a minute otherwise, and a datastore defined meanwhile is not known that long. */
const REFRESH_MS = 2000;

await runAsProcess<IndexedAccess, undefined>(async (access, control) => {
  await using store = await openIndexed(access);
  setInterval(() => store.context.topology.refresh(), REFRESH_MS).unref();
  control.ready();
  while (!control.signal.aborted) {
    await runDrain({ context: store.context, leases: leases(store.stateTable, randomUUID(), LEASE_MS), deadline: Date.now() + RUN_MS, report: () => undefined });
  }
});
