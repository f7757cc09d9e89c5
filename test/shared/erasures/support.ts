import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { rowKeyBytes, shardDatabase } from '../../../shared/address.ts';
import { LIMITS } from '../../../shared/cell.ts';
import type { Erasure, ErasureOperations } from '../../../shared/api/erasures.ts';
import type { RetentionRule } from '../../../shared/definitions/definitions.ts';
import { leases } from '../../../shared/dynamo/lease.ts';
import { erasureManagement } from '../../../shared/erasures/erasure-management.ts';
import type { RetentionSettings } from '../../../shared/erasures/retention/retention-offset.ts';
import { runErasures } from '../../../shared/erasures/run-erasures.ts';
import { writeRetention } from '../../../shared/topology/dynamo-topology.ts';
import { newTable } from '../../support/dynamo.ts';
import type { OpenTrips } from '../../support/open-trips.ts';
import { change, select } from '../../support/plain-sql.ts';
import type { RealStore } from '../../support/real-store.ts';
import { until } from '../../support/until.ts';

export type ErasureRequest = Parameters<ErasureOperations['eraseCells']>[0];

/** Erases in a store, and continues what is not done. */
export async function openEraser(store: RealStore, datastore: string, backupDays = 35) {
  const { context, topologyTable } = store;
  const name = store.nameOf(datastore);
  const stateTable = await newTable(topologyTable.client);
  const work = { context, topologyTable, stateTable, backupDays };
  const ends: (() => Promise<void>)[] = [];
  const failures: unknown[] = [];
  let rounds = 0;
  const operations = await erasureManagement(work).erasures(name, 'tester');
  return {
    stateTable,
    operations,
    /** Erases until it is done everywhere: replicas of a busy machine may be behind. */
    async erased(request: ErasureRequest): Promise<Erasure> {
      let done = await operations.eraseCells(request);
      const isErased = async () =>
        done.state === 'erased' || (done = await operations.eraseCells(request)).state === 'erased';
      await until('it is erased', isErased);
      return done;
    },
    /** Continues what is open, until it is stopped: at the end of the test at the latest. */
    start(retention?: RetentionSettings): () => Promise<void> {
      const end = new AbortController();
      const running = runErasures({
        ...work,
        leases: leases(stateTable, randomUUID(), 2000),
        deadline: Date.now() + 3_600_000,
        pollMs: 50,
        failed: (error) => failures.push(error),
        ...(retention && { retention }),
        retained: (retained) => {
          if (retained === name) rounds += 1;
        },
        signal: end.signal,
      });
      const stop = async (): Promise<void> => {
        end.abort();
        await running;
      };
      ends.push(stop);
      return stop;
    },
    /** Waits until a round of retention that begins after now has ended. */
    async roundAfter(): Promise<void> {
      const before = rounds;
      await until('a round of retention ends', () => rounds >= before + 2);
    },
    /** Stops the run in the background. Throws what it stumbled over. */
    async end(): Promise<void> {
      await Promise.all(ends.splice(0).map((stop) => stop()));
      if (failures.length > 0) throw new AggregateError(failures.splice(0), 'the run in the background failed');
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all(ends.splice(0).map((stop) => stop()));
    },
  };
}

/** Operations of retention tests on a datastore of one shard. */
export function retained({ store, trips, name, clientOf, entity }: OpenTrips) {
  /** Ref keys of the bodies in the shard's table. */
  const bodiesOf = async (row_key: string, column_name = 'STATUS'): Promise<number[]> => {
    const sql = `SELECT ref_key FROM ${entity(0)} WHERE row_key = ? AND column_name = ? AND LEFT(body, 1) <> X'00' ORDER BY ref_key`;
    const rows = await select(clientOf(0), sql, rowKeyBytes(row_key), Buffer.from(column_name));
    return rows.map(([ref_key]) => Number(ref_key));
  };
  return {
    bodiesOf,
    /** Changes the rules, and waits until the store applies them. */
    async ruled(rules: readonly RetentionRule[] | undefined): Promise<void> {
      await writeRetention(store.topologyTable, name, rules);
      store.topology.refresh();
      store.context.topology.refresh();
      const wanted = JSON.stringify(rules);
      const now = async () => JSON.stringify((await store.topology.datastore(name))?.retention);
      await until('the store goes by the rules', async () => (await now()) === wanted);
    },
    async write(row_key: string, column_name: string, refKeys: readonly number[]): Promise<void> {
      for (let from = 0; from < refKeys.length; from += LIMITS.batchCells) {
        const cells = refKeys.slice(from, from + LIMITS.batchCells).map((ref_key) => ({
          row_key,
          column_name,
          ref_key,
          body: { city: `of ${row_key}`, ref_key },
        }));
        for (const { outcome } of await trips.batchPut(cells)) expect(outcome).toBe('stored');
      }
    },
    left: (row_key: string, column_name: string, count: number): Promise<void> =>
      until(`${count} bodies are left`, async () => (await bodiesOf(row_key, column_name)).length === count),
    /** Moves the times of all cells into the past: the database's clock alone says how old a cell is. */
    async age(hours: number): Promise<void> {
      await change(clientOf(0), `UPDATE ${entity(0)} SET created_at = created_at - INTERVAL ${hours} HOUR`);
    },
  };
}

/** Bodies in the table of cells of a database. */
export async function countBodies(store: RealStore, group: string, database: string, rowKey?: string): Promise<number> {
  const sql = `SELECT COUNT(*) FROM \`${database}\`.entity WHERE column_name >= X'02' AND LEFT(body, 1) <> X'00'`;
  const rows =
    rowKey === undefined
      ? select(store.client(group), sql)
      : select(store.client(group), `${sql} AND row_key = ?`, rowKeyBytes(rowKey));
  return Number((await rows)[0]?.[0]);
}

/** Counts a row's bodies in the shard's table of a datastore and in all buffers. */
export async function bodiesEverywhere(
  store: RealStore,
  { name, primary }: OpenTrips,
  rowKey: string,
): Promise<number> {
  let found = await countBodies(store, primary, shardDatabase(name, 0), rowKey);
  for (const { name: group } of store.groups)
    for (const table of ['buffer', 'drained']) {
      const sql = `SELECT COUNT(*) FROM schemaless.${table} WHERE datastore = ? AND row_key = ? AND column_name >= X'02'`;
      found += Number((await select(store.client(group), sql, name, rowKeyBytes(rowKey)))[0]?.[0]);
    }
  return found;
}

export const upTo = (last: number): number[] => Array.from({ length: last }, (_, position) => position + 1);

/** The background run, which checks everything in each round. */
export const AT_ONCE: RetentionSettings = { roundMs: 50, wholeMs: 0, rest: 0 };
/** The background run, of which only the first round under new rules checks everything. */
export const SPARING: RetentionSettings = { roundMs: 50, wholeMs: 3_600_000, rest: 0 };
