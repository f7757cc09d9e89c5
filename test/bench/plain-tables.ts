import { createPool, type Pool } from 'mysql2';
import { rowKeyBytes, shardOf } from '../../shared/address.ts';
import type { CellKey, Json, NewCell } from '../../shared/cell.ts';
import type { DatastoreTopology } from '../../shared/topology/topology.ts';
import type { GroupAccess } from '../support/store-access.ts';

/**
 * What a user would do instead: two tables a shard with ids by AUTO_INCREMENT, each write two inserts that are committed
 * by themselves, each read a SELECT; bodies are the text of their JSON.
 */
export interface PlainTables extends AsyncDisposable {
  /** A row of content, and one of an index: no copy, no check of what is there. */
  put(cell: NewCell): Promise<void>;
  /** The body that came last. Undefined where there is none. */
  latest(key: Pick<CellKey, 'row_key' | 'column_name'>): Promise<Json | undefined>;
}

interface PlainTablesOptions {
  readonly groups: readonly GroupAccess[];
  readonly topology: DatastoreTopology;
  /** The field of bodies that the index is about, a UUID. */
  readonly field: string;
  /** To the writers of all groups together. @default 64 */
  readonly connections?: number;
}

type Values = readonly unknown[];
const SCHEMA = 'plain_tables';

export async function plainTables({
  groups,
  topology: { shards, homes },
  field,
  connections = 64,
}: PlainTablesOptions): Promise<PlainTables> {
  const pools = new Map(groups.map((group) => [group.name, openPool(group, Math.ceil(connections / groups.length))]));
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

function openPool({ writer, user, password }: GroupAccess, connectionLimit: number): Pool {
  return createPool({
    host: writer.host,
    port: writer.port,
    user,
    password,
    connectionLimit,
    charset: 'utf8mb4_bin',
    rowsAsArray: true,
    enableKeepAlive: true,
  });
}
