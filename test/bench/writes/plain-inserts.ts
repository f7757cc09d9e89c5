import { createPool, type Pool } from 'mysql2';
import { rowKeyBytes } from '../../../shared/address.ts';
import type { Json, NewCell } from '../../../shared/cell.ts';
import { shardOf } from '../../../shared/shard.ts';
import type { DatastoreTopology } from '../../../shared/topology/topology.ts';
import type { GroupAccess } from '../../support/store-access.ts';

/** What a user would do instead: two tables a shard, each write two inserts that are committed by themselves. */
export interface PlainInserts extends AsyncDisposable {
  /** A row of content, and one of an index: no copy, no check of what is there. */
  put(cell: NewCell): Promise<void>;
}

const SCHEMA = 'plain_inserts';

/** @param connections to all groups together */
export async function plainInserts(
  groups: readonly GroupAccess[],
  { shards, places }: DatastoreTopology,
  connections: number,
): Promise<PlainInserts> {
  const pools = new Map(groups.map((group) => [group.name, openPool(group, Math.ceil(connections / groups.length))]));
  const run = (group: string, sql: string, values: readonly unknown[] = []): Promise<void> =>
    new Promise((resolve, reject) => {
      pools.get(group)?.query(sql, [...values], (error) => (error ? reject(error) : resolve()));
    });
  for (const name of pools.keys()) await run(name, `CREATE DATABASE ${SCHEMA}`);
  const groupOf = (shard: number): string => places[shard]?.group ?? '';
  for (let shard = 0; shard < shards; shard += 1) {
    const id = 'id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY';
    await run(
      groupOf(shard),
      `CREATE TABLE ${SCHEMA}.content_${shard} (${id}, row_key BINARY(16) NOT NULL, column_name VARBINARY(64) NOT NULL, ref_key BIGINT NOT NULL, body MEDIUMBLOB NOT NULL, created_at DATETIME(6) NOT NULL, UNIQUE KEY cell (row_key, column_name, ref_key))`,
    );
    await run(
      groupOf(shard),
      `CREATE TABLE ${SCHEMA}.by_driver_${shard} (${id}, driver BINARY(16) NOT NULL, row_key BINARY(16) NOT NULL, UNIQUE KEY entry (driver, row_key))`,
    );
  }
  return {
    async put({ row_key, column_name, ref_key, body }) {
      const driver = String((body as { readonly driver_uuid?: Json }).driver_uuid);
      const [shard, entryShard] = [shardOf(row_key, shards), shardOf(driver, shards)];
      const [key, text] = [rowKeyBytes(row_key), JSON.stringify(body)];
      await run(
        groupOf(shard),
        `INSERT INTO ${SCHEMA}.content_${shard} (row_key, column_name, ref_key, body, created_at) VALUES (?, ?, ?, ?, SYSDATE(6))`,
        [key, column_name, ref_key, text],
      );
      await run(groupOf(entryShard), `INSERT INTO ${SCHEMA}.by_driver_${entryShard} (driver, row_key) VALUES (?, ?)`, [
        rowKeyBytes(driver),
        key,
      ]);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...pools.values()].map((pool) => new Promise((resolve) => pool.end(resolve))));
    },
  };
}

function openPool({ writer, user, password }: GroupAccess, connectionLimit: number): Pool {
  return createPool({
    host: writer.host,
    port: writer.port,
    user,
    password,
    connectionLimit,
    charset: 'utf8mb4_bin',
    enableKeepAlive: true,
  });
}
