/** A thread that drains as `kill/drain-thread.ts` does, but opens a new writer's shards though nothing was brought back: a control. */
import { randomUUID } from 'node:crypto';
import { LEASE_MS, runDrain } from '../../../shared/drain/run-drain.ts';
import { leases } from '../../../shared/dynamo/lease.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { forgetWriters, recordWriter } from '../../../shared/sql/statements/record-writer.ts';
import { selectFencedShards, toFencedShards } from '../../../shared/sql/statements/select-fenced-shards.ts';
import { dynamoClient } from '../../support/dynamo.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';
import { runAsWorker } from '../../support/workers/worker-side.ts';

const RUN_MS = 60_000;

await runAsWorker<StoreAccess, 'stop', never, undefined>(async (access, control) => {
  await using store = await openStore(access, { wrap: withoutFence });
  const state = { client: dynamoClient(access.dynamo), table: access.stateTable };
  control.ready();
  while (control.stopped === undefined) {
    await runDrain({ context: store.context, leases: leases(state, randomUUID(), LEASE_MS), deadline: Date.now() + RUN_MS, report: () => undefined });
  }
  return undefined;
});

/** Whoever asks which shards are closed is told that none is, and then none is. */
function withoutFence(client: SqlClient): SqlClient {
  const fenced = selectFencedShards().sql;
  return {
    ...client,
    async select(statement, target) {
      const rows = await client.select(statement, target);
      if (statement.sql !== fenced) return rows;
      for (const { serverId, datastore, shard } of toFencedShards(rows)) {
        await client.change(forgetWriters(datastore, [shard]));
        await client.change(recordWriter(serverId, datastore, [shard]));
      }
      return [];
    },
  };
}
