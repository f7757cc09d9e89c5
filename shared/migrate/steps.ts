import { toNumber } from '../sql/cell-rows.ts';
import { SqlError, type SqlClient } from '../sql/client.ts';
import { CONTROL } from '../sql/names.ts';

/**
 * The tables, as numbered steps. Forward only: a released step never changes; the next one alters. Every statement is
 * repeatable, since an interrupted migration restarts its step. `stepControl` treats an existing column or key, or a
 * missing one to drop, as done.
 */

/** The first columns of step 1 in both tables of hints. */
const COPY_COLUMNS =
  'id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, ' +
  'datastore VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, ' +
  'shard SMALLINT UNSIGNED NOT NULL, ' +
  'row_key BINARY(16) NOT NULL, ' +
  'column_name VARBINARY(255) NOT NULL, ' +
  'ref_key BIGINT NOT NULL, ' +
  'body MEDIUMBLOB NOT NULL, ' +
  'body_hash BINARY(32) NOT NULL, ' +
  'created_at DATETIME(6) NOT NULL, ' +
  // The original time of a restored cell. NULL for a new cell.
  'stored_at DATETIME(6) NULL, ';

/** The steps of every group's control database. Step n is at n - 1. */
export const CONTROL_STEPS: readonly (readonly string[])[] = [
  [
    'CREATE DATABASE IF NOT EXISTS `schemaless`',
    // The steps that this group has taken.
    'CREATE TABLE IF NOT EXISTS `schemaless`.migration (step SMALLINT UNSIGNED NOT NULL PRIMARY KEY, applied_at DATETIME(6) NOT NULL) ENGINE=InnoDB',
    // One row, which health checks write.
    'CREATE TABLE IF NOT EXISTS `schemaless`.health_check (id TINYINT NOT NULL PRIMARY KEY, beat TINYINT NOT NULL) ENGINE=InnoDB',
    // The shards that this group owns; each row is also the lock that numbers the shard's log.
    'CREATE TABLE IF NOT EXISTS `schemaless`.shard (' +
      'datastore VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, ' +
      'shard SMALLINT UNSIGNED NOT NULL, ' +
      'epoch INT UNSIGNED NOT NULL, ' +
      "state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'open', " +
      'first_id BIGINT UNSIGNED NOT NULL DEFAULT 1, ' +
      // The steps that its database has taken.
      'step SMALLINT UNSIGNED NOT NULL, ' +
      // The last attempt to switch the shard that closed or reopened it.
      "closed_by CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '', " +
      // The server whose log is known to have every acknowledged cell. NULL without hints, and with shared storage.
      'writer_id INT UNSIGNED NULL, ' +
      // 1: something of the shard was erased, so that its appends check for erasures.
      'has_erasures TINYINT UNSIGNED NOT NULL DEFAULT 0, ' +
      // The last added id and its time as of the epoch `head_epoch`: never ahead of the log, behind it after appends
      // that do not set it. Unknown if the shard's epoch is another, or if `head_epoch` is NULL.
      'head BIGINT UNSIGNED NOT NULL DEFAULT 0, ' +
      "head_at DATETIME(6) NOT NULL DEFAULT '2000-01-01 00:00:00', " +
      'head_epoch INT UNSIGNED NULL, ' +
      'PRIMARY KEY (datastore, shard)) ENGINE=InnoDB',
    // Hints that this group holds for other primaries.
    'CREATE TABLE IF NOT EXISTS `schemaless`.buffer (' +
      COPY_COLUMNS +
      "state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'waiting', " +
      // 8-byte ids of the writes that rely on the hint: a repeated statement counts once.
      'writers VARBINARY(4000) NOT NULL, ' +
      // Of the writers: those that were answered `buffered`.
      "answered VARBINARY(4000) NOT NULL DEFAULT '', " +
      // 1: its body may be in the log, and seen there, though its writers were answered `buffered`.
      'shown TINYINT UNSIGNED NOT NULL DEFAULT 0, ' +
      'attempts INT UNSIGNED NOT NULL DEFAULT 0, ' +
      'last_error VARCHAR(500) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, ' +
      'UNIQUE KEY copy (datastore, row_key, column_name, ref_key, body_hash), ' +
      // The drain goes from shard to shard, and finds the rows of each by keys alone.
      'KEY place (state, datastore, shard, id)) ENGINE=InnoDB',
    // Which shards have new cells, for followers of their logs: only the latest notifications.
    'CREATE TABLE IF NOT EXISTS `schemaless`.notification (' +
      'id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, ' +
      'datastore VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, ' +
      'shards VARBINARY(512) NOT NULL) ENGINE=InnoDB',
    // Drained hints, kept for a while in case a primary is restored to a point in time. Ids follow the order of
    // draining.
    'CREATE TABLE IF NOT EXISTS `schemaless`.drained (' +
      COPY_COLUMNS +
      'UNIQUE KEY copy (datastore, row_key, column_name, ref_key, body_hash), ' +
      'KEY place (datastore, shard, id)) ENGINE=InnoDB',
  ],
];

export const SHARD_STEPS: readonly ((database: string) => readonly string[])[] = [
  (database) => [
    `CREATE DATABASE IF NOT EXISTS ${database}`,
    `CREATE TABLE IF NOT EXISTS ${database}.entity (` +
      'added_id BIGINT UNSIGNED NOT NULL PRIMARY KEY, ' +
      'row_key BINARY(16) NOT NULL, ' +
      'column_name VARBINARY(255) NOT NULL, ' +
      'ref_key BIGINT NOT NULL, ' +
      'body MEDIUMBLOB NULL, ' +
      'created_at DATETIME(6) NOT NULL, ' +
      'UNIQUE KEY cell (row_key, column_name, ref_key)) ENGINE=InnoDB',
  ],
];

/** The errors of adding a column or a key twice, and of dropping one twice. */
const DONE_BEFORE = new Set([1060, 1061, 1091]);

/**
 * Takes the steps that a group's control database lacks. Keeps steps that this release does not know. `steps`: all
 * steps; step n is at n - 1.
 */
export async function stepControl(client: SqlClient, steps = CONTROL_STEPS): Promise<void> {
  const [[known] = []] = await client.select(
    {
      sql: "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'schemaless' AND table_name = 'migration'",
      parameters: [],
    },
    'writer',
  );
  const [[last] = []] =
    toNumber(known) === 0
      ? [[0]]
      : await client.select(
          { sql: `SELECT COALESCE(MAX(step), 0) FROM ${CONTROL}.migration`, parameters: [] },
          'writer',
        );
  for (let step = toNumber(last) + 1; step <= steps.length; step += 1) {
    for (const sql of steps[step - 1] ?? []) await client.change({ sql, parameters: [] }).catch(unlessDone);
    await client.change({
      sql: `INSERT IGNORE INTO ${CONTROL}.migration (step, applied_at) VALUES (?, SYSDATE(6))`,
      parameters: [step],
    });
  }
}

/** Ignores the error of a statement that an interrupted migration had done. */
function unlessDone(error: unknown): void {
  if (!(error instanceof SqlError) || !DONE_BEFORE.has(error.errno)) throw error;
}
