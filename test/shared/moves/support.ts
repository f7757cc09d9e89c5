import { randomUUID } from 'node:crypto';
import type { MoveOperations, MoveStatus } from '../../../shared/contract/move-operations.ts';
import { leases } from '../../../shared/dynamo/lease.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { moveManagement } from '../../../shared/moves/move-management.ts';
import { runMoves, type MoveRun } from '../../../shared/moves/run-moves.ts';
import { newTable } from '../../support/dynamo.ts';
import { lookUntil } from '../../support/look-until.ts';
import type { RealStore } from '../../support/real-store.ts';

/** A mover over a store, and what operators do with it. */
export interface Mover extends AsyncDisposable {
  readonly stateTable: DynamoTable;
  readonly operations: MoveOperations;
  /** Begins to work, until it is stopped: at the end of the test at the latest. */
  start(varied?: Partial<MoveRun>): () => Promise<void>;
  /** Waits until the move of a shard is so. */
  until(shard: number, isSo: (status: MoveStatus) => boolean): Promise<MoveStatus>;
}

export async function openMover(store: RealStore, datastore: string): Promise<Mover> {
  const { context, topologyTable } = store;
  const stateTable = await newTable(topologyTable.client);
  const operations = await moveManagement({ context, topologyTable, stateTable }).moves(store.nameOf(datastore));
  const ends: (() => Promise<void>)[] = [];
  return {
    stateTable,
    operations,
    start(varied = {}) {
      const end = new AbortController();
      const running = runMoves({
        context,
        topologyTable,
        stateTable,
        leases: leases(stateTable, randomUUID(), 2000),
        deadline: Date.now() + 3_600_000,
        staysIdle: true,
        settings: { announcedMs: 0, turnMs: 200, share: 1 },
        signal: end.signal,
        ...varied,
      });
      running.catch(() => undefined);
      const stop = async (): Promise<void> => {
        end.abort();
        await running;
      };
      ends.push(stop);
      return stop;
    },
    until(shard, isSo) {
      return lookUntil(() => operations.move(shard), isSo, { patienceMs: 30_000, pollMs: 20 });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(ends.map((stop) => stop()));
    },
  };
}
