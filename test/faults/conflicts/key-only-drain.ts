/** A thread that drains as `kill/drain-thread.ts` does, but takes any body at a row's address for the row's own: a control. */
import { randomUUID } from 'node:crypto';
import { LEASE_MS, runDrain } from '../../../shared/drain/run-drain.ts';
import { leases } from '../../../shared/dynamo/lease.ts';
import type { SqlClient, SqlValue } from '../../../shared/sql/client.ts';
import { dynamoClient } from '../../support/dynamo.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';
import { runAsWorker } from '../../support/workers/worker-side.ts';

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

/** Whatever a node has at the address of a waiting row is said to be the row's own body. */
function withEqualHashes(client: SqlClient, told: () => void): SqlClient {
  const waiting = new Map<string, SqlValue>();
  const keyOf = (rowKey: unknown, columnName: unknown, refKey: unknown): string => `${Buffer.from(rowKey as Uint8Array).toString('hex')}/${Buffer.from(columnName as Uint8Array).toString('hex')}/${String(refKey)}`;
  return {
    ...client,
    async select(statement, target) {
      const { sql, parameters } = statement;
      const rows = await client.select(statement, target);
      if (sql.includes("WHERE state = 'waiting' AND datastore = ? AND shard = ? AND id > ?")) for (const row of rows) waiting.set(keyOf(row[3], row[4], row[5]), row[6] ?? null);
      const items = [...sql.matchAll(/SELECT (\d+) AS item, UNHEX\(SHA2\(body, 256\)\)/g)].map(([, item]) => item);
      if (items.length === 0) return rows;
      told();
      const keys = new Map(items.map((item, place) => [item, keyOf(...(parameters.slice(3 * place, 3 * place + 3) as [unknown, unknown, unknown]))]));
      return rows.map((row) => [row[0] ?? null, waiting.get(keys.get(String(row[0])) ?? '') ?? row[1] ?? null]);
    },
    // Rows are changed by address and hash: by address alone then.
    change: (statement) => client.change({ ...statement, sql: statement.sql.replaceAll('body_hash = ?', '(body_hash = ? OR TRUE)') }),
  };
}
