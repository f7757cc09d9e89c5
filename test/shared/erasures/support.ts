import { randomUUID } from 'node:crypto';
import type { ErasureOperations } from '../../../shared/contract/erasure-operations.ts';
import type { RetentionOperations } from '../../../shared/contract/retention-operations.ts';
import { leases } from '../../../shared/dynamo/lease.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { erasureManagement } from '../../../shared/erasures/erasure-management.ts';
import type { RetentionSettings } from '../../../shared/erasures/retention/retain-shard.ts';
import { runErasures } from '../../../shared/erasures/run-erasures.ts';
import { rowKeyBytes, shardDatabase } from '../../../shared/address.ts';
import type { RetentionRule } from '../../../shared/definitions/definitions.ts';
import { writeRetention } from '../../../shared/topology/what-is-kept.ts';
import { newTable } from '../../support/dynamo.ts';
import { select } from '../../support/plain-sql.ts';
import { comes } from '../../support/until.ts';
import type { RealStore } from '../../support/real-store.ts';

/** Who erases in a store, and who goes on with what is not done. */
export interface Eraser extends AsyncDisposable {
  readonly stateTable: DynamoTable;
  readonly operations: ErasureOperations;
  readonly retention: RetentionOperations;
  /** What those who go on stumbled over. */
  readonly failures: readonly unknown[];
  /** Goes on with what is open, until it is stopped: at the end of the test at the latest. */
  start(retention?: RetentionSettings): () => Promise<void>;
}

export async function openEraser(store: RealStore, datastore: string, backupDays = 35): Promise<Eraser> {
  const { context, topologyTable } = store;
  const stateTable = await newTable(topologyTable.client);
  const work = { context, topologyTable, stateTable, backupDays };
  const ends: (() => Promise<void>)[] = [];
  const failures: unknown[] = [];
  return {
    stateTable,
    failures,
    operations: await erasureManagement(work).erasures(store.nameOf(datastore), 'tester'),
    retention: await erasureManagement(work).retention(store.nameOf(datastore), 'tester'),
    start(retention) {
      const end = new AbortController();
      const running = runErasures({
        ...work,
        leases: leases(stateTable, randomUUID(), 2000),
        deadline: Date.now() + 3_600_000,
        lookMs: 50,
        failed: (error) => failures.push(error),
        ...(retention && { retention }),
        signal: end.signal,
      });
      const stop = async (): Promise<void> => {
        end.abort();
        await running;
      };
      ends.push(stop);
      return stop;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(ends.map((stop) => stop()));
    },
  };
}

/** Gives a datastore other rules, and waits until the store goes by them: what it knows it goes on with while it reads. */
export async function setRules(
  { topologyTable, topology, context }: RealStore,
  name: string,
  rules: readonly RetentionRule[] | undefined,
): Promise<void> {
  await writeRetention(topologyTable, name, rules);
  topology.refresh();
  context.topology.refresh();
  await comes(async () => JSON.stringify((await topology.datastore(name))?.retention) === JSON.stringify(rules), {
    patienceMs: 30_000,
    pollMs: 30,
  });
}

/** Ref keys of bodies that lie in the table of a datastore's only shard. */
export async function bodiesIn(
  store: RealStore,
  name: string,
  { row_key, column_name }: { readonly row_key: string; readonly column_name: string },
): Promise<number[]> {
  const primary = (await store.topology.datastore(name))?.homes[0]?.group ?? '';
  const rows = await select(
    store.client(primary),
    `SELECT ref_key FROM \`${shardDatabase(name, 0)}\`.entity WHERE row_key = ? AND column_name = ? AND LEFT(body, 1) <> X'00' ORDER BY ref_key`,
    rowKeyBytes(row_key),
    Buffer.from(column_name),
  );
  return rows.map(([ref_key]) => Number(ref_key));
}

/** 1 to a number. */
export const upTo = (last: number): number[] => Array.from({ length: last }, (_, position) => position + 1);
