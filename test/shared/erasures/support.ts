import { randomUUID } from 'node:crypto';
import type { ErasureOperations } from '../../../shared/contract/erasure-operations.ts';
import type { RetentionOperations } from '../../../shared/contract/retention-operations.ts';
import { leases } from '../../../shared/dynamo/lease.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { erasureManagement } from '../../../shared/erasures/erasure-management.ts';
import type { RetentionSettings } from '../../../shared/erasures/retention/retain-shard.ts';
import { runErasures } from '../../../shared/erasures/run-erasures.ts';
import { newTable } from '../../support/dynamo.ts';
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
