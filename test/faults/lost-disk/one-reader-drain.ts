/** A thread that drains as `kill/drain-thread.ts` does, but takes the word of one reader for that of all: a control. */
import { randomUUID } from 'node:crypto';
import { LEASE_MS, runDrain } from '../../../shared/drain/run-drain.ts';
import { leases } from '../../../shared/dynamo/lease.ts';
import type { SqlClient, Target } from '../../../shared/sql/client.ts';
import { dynamoClient } from '../../support/dynamo.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';
import { runAsWorker } from '../../support/workers/worker-side.ts';

const RUN_MS = 60_000;

await runAsWorker<StoreAccess, 'stop', never, undefined>(async (access, control) => {
  await using store = await openStore(access, { wrap: withoutFirstReader });
  const state = { client: dynamoClient(access.dynamo), table: access.stateTable };
  control.ready();
  while (control.stopped === undefined) {
    await runDrain({ context: store.context, leases: leases(state, randomUUID(), LEASE_MS), deadline: Date.now() + RUN_MS, report: () => undefined });
  }
  return undefined;
});

/** The group's second node, its first reader, is never asked. */
function withoutFirstReader(client: SqlClient): SqlClient {
  const skipping = (target: Target): Target => (typeof target === 'object' && target.node > 0 ? { node: target.node + 1 } : target);
  return { ...client, nodes: client.nodes - 1, select: (statement, target) => client.select(statement, skipping(target)) };
}
