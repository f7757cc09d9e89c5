/** A process that moves shards, as the scheduled function does, until it is ended or killed. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { leases } from '../../../shared/dynamo/lease.ts';
import { runMoves } from '../../../shared/moves/run-moves.ts';
import type { MoveStep } from '../../../shared/api/moves.ts';
import type { SqlClient, Statement } from '../../../shared/sql/client.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';
import { runAsProcess } from '../../support/processes/process-side.ts';

export interface MoverInput {
  readonly access: StoreAccess;
  /** Crashes at the nth statement of this step. @default never */
  readonly dies?: { readonly step: MoveStep; readonly statement: number } | undefined;
  /** How long it pauses the first time that it has closed a shard. @default 0 */
  readonly stallsMs?: number | undefined;
  readonly plants?: boolean | undefined;
}

export interface MoverProgress {
  /** Cells that were altered in transit. */
  readonly planted: number;
  readonly stumbles: number;
  readonly lastError: string;
}

const RUN_MS = 60_000;
/** A killed run is declared dead soon, which shortens the wait. */
const LEASE_MS = 3000;
const SETTINGS = { announcedMs: 700, turnMs: 500, share: 0.8 };

await runAsProcess<MoverInput, MoverProgress>(async ({ access, dies, plants = false, stallsMs = 0 }, control) => {
  const progress = { planted: 0, stumbles: 0, lastError: '' };
  let left = Number.POSITIVE_INFINITY;
  let hasToStall = stallsMs > 0;
  const count = (): void => {
    left -= 1;
    if (left <= 0) process.kill(process.pid, 'SIGKILL');
  };
  const altered = (statement: Statement): Statement => {
    if (
      !plants ||
      progress.planted > 0 ||
      statement.parameters.length < 12 ||
      !/_copy`\.`entity` \(added_id/u.test(statement.sql)
    )
      return statement;
    progress.planted += 1;
    // The first row gets the body of the second: the fifth of the six values of a row.
    const parameters = statement.parameters.with(4, statement.parameters[10] ?? null);
    return { ...statement, parameters };
  };
  const wrap = (client: SqlClient): SqlClient => ({
    ...client,
    select: (statement, target) => (count(), client.select(statement, target)),
    async change(statement) {
      count();
      const change = await client.change(altered(statement));
      if (hasToStall && statement.sql.includes("SET state = 'moving'")) {
        hasToStall = false;
        await sleep(stallsMs);
      }
      return change;
    },
  });
  await using store = await openStore(access, { connections: 4, wrap });
  await control.ready();
  const saying = setInterval(() => void control.say({ ...progress }), 100);
  while (!control.signal.aborted) {
    await runMoves({
      context: store.context,
      topologyTable: store.topologyTable,
      stateTable: store.stateTable,
      leases: leases(store.stateTable, randomUUID(), LEASE_MS),
      deadline: Date.now() + RUN_MS,
      signal: control.signal,
      staysIdle: true,
      settings: SETTINGS,
      report(move, error) {
        if (dies && move.step === dies.step && left === Number.POSITIVE_INFINITY) left = dies.statement;
        if (error === undefined) return;
        progress.stumbles += 1;
        progress.lastError = String(error instanceof Error ? error.stack : error);
      },
    });
  }
  clearInterval(saying);
  await control.say({ ...progress });
});
