/** A thread that drains the buffer tables as the scheduled function does, or otherwise, as a control. */
import { randomUUID } from 'node:crypto';
import type { DrainSettings } from '../../../shared/drain/drain-settings.ts';
import { LEASE_MS, runDrain } from '../../../shared/drain/run-drain.ts';
import { leases } from '../../../shared/dynamo/lease.ts';
import { dynamoClient } from '../../support/dynamo.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';
import { runAsWorker } from '../../support/workers/worker-side.ts';

export interface VariedDrain {
  readonly access: StoreAccess;
  /** @default the store's own */
  readonly settings?: DrainSettings;
  /** Rows go once the writer shows their cells, whatever the readers show. @default false */
  readonly asksWriterOnly?: boolean;
}

/** How long a run of the function lasts; the next one takes over then. */
const RUN_MS = 60_000;

await runAsWorker<VariedDrain, 'stop', never, void>(async ({ access, settings = {}, asksWriterOnly = false }, control) => {
  await using store = await openStore(access, { wrap: (client) => (asksWriterOnly ? { ...client, nodes: 1 } : client) });
  const state = { client: dynamoClient(access.dynamo), table: access.stateTable };
  control.ready();
  while (control.stopped === undefined) {
    await runDrain({ context: store.context, leases: leases(state, randomUUID(), LEASE_MS), deadline: Date.now() + RUN_MS, settings, report: () => undefined });
  }
});
