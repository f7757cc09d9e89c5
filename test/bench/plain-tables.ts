import { rowKeyBytes, shardOf } from '../../shared/address.ts';
import type { CellKey, Json, NewCell } from '../../shared/cell.ts';
import type { DatastoreTopology } from '../../shared/topology/topology.ts';
import type { GroupAccess } from '../support/store-access.ts';
import { openPool } from './by-hand.ts';

/**
 * The tables that a user would make instead: two a shard, with AUTO_INCREMENT ids. Each write is two inserts with
 * separate commits, each read a SELECT; bodies are JSON text.
 */
export interface PlainTables extends AsyncDisposable {
  /** Inserts a row of content and one of an index: no copy, no check for existing cells. */
  put(cell: NewCell): Promise<void>;
  /** Returns the body that came last; undefined if there is none. */
  latest(key: Pick<CellKey, 'row_key' | 'column_name'>): Promise<Json | undefined>;
}

interface PlainTablesOptions {
  readonly groups: readonly GroupAccess[];
  readonly topology: DatastoreTopology;
  /** The indexed field of bodies, a UUID. */
  readonly field: string;
}

type Values = readonly unknown[];
/** The connections to all groups' writers, in total. */
const CONNECTIONS = 64;
const SCHEMA = 'plain_tables';

export async function plainTables({
  groups,
  topology: { shards, homes },
  field,
}: PlainTablesOptions): Promise<PlainTables> {
  const pools = new Map(groups.map((group) => [group.name, openPool(group, Math.ceil(CONNECTIONS / groups.length))]));
  const run = (group: string, sql: string, values: Values = []): Promise<readonly Values[]> =>
    new Promise((resolve, reject) => {
      pools.get(group)?.query(sql, [...values], (error, rows) => (error ? reject(error) : resolve(rows as never)));
    });
  const groupOf = (shard: number): string => homes[shard]?.group ?? '';
  for (const name of pools.keys()) await run(name, `CREATE DATABASE ${SCHEMA}`);
  for (let shard = 0; shard < shards; shard += 1) await createTables((sql) => run(groupOf(shard), sql), shard);
  return {
    async put({ row_key, column_name, ref_key, body }) {
      const value = String((body as { readonly [name: string]: Json })[field]);
      const [shard, entryShard] = [shardOf(row_key, shards), shardOf(value, shards)];
      const [key, text] = [rowKeyBytes(row_key), JSON.stringify(body)];
      await run(
        groupOf(shard),
        `INSERT INTO ${SCHEMA}.content_${shard} (row_key, column_name, ref_key, body, created_at) VALUES (?, ?, ?, ?, SYSDATE(6))`,
        [key, column_name, ref_key, text],
      );
      await run(groupOf(entryShard), `INSERT INTO ${SCHEMA}.entries_${entryShard} (value, row_key) VALUES (?, ?)`, [
        rowKeyBytes(value),
        key,
      ]);
    },
    async latest({ row_key, column_name }) {
      const shard = shardOf(row_key, shards);
      const [row] = await run(
        groupOf(shard),
        `SELECT body FROM ${SCHEMA}.content_${shard} WHERE row_key = ? AND column_name = ? ORDER BY id DESC LIMIT 1`,
        [rowKeyBytes(row_key), column_name],
      );
      return row && (JSON.parse(String(row[0])) as Json);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...pools.values()].map((pool) => new Promise((resolve) => pool.end(resolve))));
    },
  };
}

async function createTables(run: (sql: string) => Promise<unknown>, shard: number): Promise<void> {
  const id = 'id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY';
  await run(
    `CREATE TABLE ${SCHEMA}.content_${shard} (${id}, row_key BINARY(16) NOT NULL, column_name VARBINARY(64) NOT NULL, ref_key BIGINT NOT NULL, body MEDIUMBLOB NOT NULL, created_at DATETIME(6) NOT NULL, UNIQUE KEY cell (row_key, column_name, ref_key)) ENGINE=InnoDB`,
  );
  await run(
    `CREATE TABLE ${SCHEMA}.entries_${shard} (${id}, value BINARY(16) NOT NULL, row_key BINARY(16) NOT NULL, UNIQUE KEY entry (value, row_key)) ENGINE=InnoDB`,
  );
}
