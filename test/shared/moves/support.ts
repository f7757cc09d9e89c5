import { randomUUID } from 'node:crypto';
import type { MoveOperations, MoveStatus } from '../../../shared/api/moves.ts';
import { leases } from '../../../shared/dynamo/lease.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { moveManagement } from '../../../shared/moves/move-management.ts';
import { readMove, type Move } from '../../../shared/moves/move-item.ts';
import { runMoves, type MoveRun } from '../../../shared/moves/run-moves.ts';
import { toText } from '../../../shared/sql/cell-rows.ts';
import { readDatastore } from '../../../shared/topology/dynamo-topology.ts';
import type { ShardHome } from '../../../shared/topology/topology.ts';
import { newTable } from '../../support/dynamo.ts';
import { select } from '../../support/plain-sql.ts';
import type { RealStore } from '../../support/real-store.ts';
import { comes, PATIENCE_MS, until } from '../../support/until.ts';

/** A mover over a store, and the operations on moves. */
export interface Mover extends AsyncDisposable {
  readonly stateTable: DynamoTable;
  readonly operations: MoveOperations;
  /** Begins to work, until it is stopped: at the end of the test at the latest. */
  start(varied?: Partial<MoveRun>): () => Promise<void>;
  /** Waits until the move of a shard is so. */
  until(shard: number, isSo: (status: MoveStatus) => boolean): Promise<MoveStatus>;
  /** Begins a move that switches by itself, and waits until it has switched. */
  move(shard: number, to: string): Promise<MoveStatus>;
  /** Begins a move. Returns once its copy follows and no mover works on it. */
  follow(shard: number, to: string): Promise<MoveStatus>;
  /** Waits until a move has switched so often, and its copy follows. */
  switched(shard: number, switches?: number): Promise<MoveStatus>;
  /** Completes the move, and waits until the shard has no copy. */
  complete(shard: number): Promise<void>;
  /** As it is written. */
  read(shard: number): Promise<Move>;
  home(shard: number): Promise<ShardHome>;
  /** The groups that do not hold the shard. */
  others(shard: number): Promise<readonly [string, string]>;
}

/** The tables of a database, fences of attempts among them. */
export async function tablesOn(store: RealStore, group: string, database: string): Promise<readonly string[]> {
  const sql = 'SELECT table_name FROM information_schema.tables WHERE table_schema = ? ORDER BY 1';
  return (await select(store.client(group), sql, database)).map(([table]) => toText(table));
}

export async function openMover(store: RealStore, datastore: string): Promise<Mover> {
  const { context, topologyTable } = store;
  const name = store.nameOf(datastore);
  const stateTable = await newTable(topologyTable.client);
  const operations = await moveManagement({ topology: context.topology, topologyTable, stateTable }).moves(name);
  const ends: (() => Promise<void>)[] = [];
  const mover: Mover = {
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
        // On a busy machine a switch would be given up again and again.
        settings: { announcedMs: 0, turnMs: 200, share: 1, pollMs: 20, closedMs: 30_000 },
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
    async until(shard, isSo) {
      let status: MoveStatus | undefined;
      const isThere = async (): Promise<boolean> => isSo((status = await operations.getMove({ shard })));
      if (!(await comes(isThere, { patienceMs: PATIENCE_MS })) || !status)
        throw new Error(`the move is still ${JSON.stringify(status)}`);
      return status;
    },
    async move(shard, to) {
      await operations.createMove({ shard, to, switch: true });
      return mover.switched(shard);
    },
    async follow(shard, to) {
      await operations.createMove({ shard, to });
      const stop = mover.start();
      const status = await mover.until(shard, ({ step, compared, head }) => step === 'following' && compared === head);
      await stop();
      return status;
    },
    switched: (shard, most = 1) =>
      mover.until(shard, ({ switches, step }) => switches === most && step === 'following'),
    async complete(shard) {
      await operations.completeMove({ shard });
      await mover.until(shard, ({ step }) => step === 'completed');
      await until('the copy is dropped', async () => (await mover.home(shard)).copy === undefined);
    },
    async read(shard) {
      const item = await readMove(stateTable, { datastore: name, shard });
      if (!item) throw new Error('no move');
      return item.move;
    },
    async home(shard) {
      const home = (await readDatastore(topologyTable, name))?.homes[shard];
      if (!home) throw new Error('no home');
      return home;
    },
    async others(shard) {
      const { group } = await mover.home(shard);
      const [one = '', other = ''] = store.groups.map((each) => each.name).filter((each) => each !== group);
      return [one, other];
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(ends.map((stop) => stop()));
    },
  };
  return mover;
}
