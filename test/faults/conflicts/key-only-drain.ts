/** A thread that drains as `kill/drain-thread.ts` does, but takes any body at a row's address for the row's own: a control. */
import { randomUUID } from 'node:crypto';
import { LEASE_MS, runDrain } from '../../../shared/drain/run-drain.ts';
import { leases } from '../../../shared/lease/lease.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { dynamoClient } from '../../support/dynamo.ts';
import { openStore, type StoreAccess } from '../store-access.ts';
import { runAsWorker } from '../workers/worker-side.ts';

const RUN_MS = 60_000;

await runAsWorker<StoreAccess, 'stop', { readonly alike: number }, undefined>(async (access, control) => {
  let alike = 0;
  await using store = await openStore(access, {
    wrap: (client) => withEqualHashes(client, () => {
      alike += 1;
      control.say({ alike });
    }),
  });
  const state = { client: dynamoClient(access.dynamo), table: access.stateTable };
  control.ready();
  while (control.stopped === undefined) {
    await runDrain({ context: store.context, leases: leases(state, randomUUID(), LEASE_MS), deadline: Date.now() + RUN_MS, report: () => undefined });
  }
  return undefined;
});

/** The hash of a waiting row and that of a stored body are the same, whatever they are of. */
function withEqualHashes(client: SqlClient, told: () => void): SqlClient {
  return {
    ...client,
    select: (statement, target) => {
      const sql = statement.sql.replace('ref_key, body_hash FROM', `ref_key, X'00' AS body_hash FROM`).replaceAll('UNHEX(SHA2(body, 256))', `X'00'`);
      if (sql !== statement.sql) told();
      return client.select({ ...statement, sql }, target);
    },
    // Rows are changed by address and hash: by address alone then.
    change: (statement) => client.change({ ...statement, sql: statement.sql.replaceAll('body_hash = ?', '(body_hash = ? OR TRUE)') }),
  };
}
