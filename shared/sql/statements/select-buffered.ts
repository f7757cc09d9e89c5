import { rowKeyOf } from '../../address.ts';
import { toBytes, toNumber, toText } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { fromSqlTime } from '../../time.ts';

/** A buffered write as the drain first sees it: where it belongs, not its body. */
export interface WaitingRow {
  readonly id: number;
  readonly datastore: string;
  readonly shard: number;
  readonly row_key: string;
  readonly column_name: string;
  readonly ref_key: number;
  /** SHA-256 of the encoded body. */
  readonly body_hash: Uint8Array;
}

/** A row of a buffer table with its body. */
export interface BufferRow extends WaitingRow {
  readonly body: Uint8Array;
  readonly created_at: string;
}

const PLACE = 'id, datastore, shard, row_key, column_name, ref_key, body_hash';

/** Waiting rows of every datastore, oldest first, beyond the id `after`: the drain's page. */
export function selectWaiting(after: number, minimumAgeSeconds: number, limit: number): Statement {
  return {
    sql:
      `SELECT ${PLACE} FROM ${CONTROL}.buffer WHERE state = 'waiting' AND id > ? ` +
      `AND created_at < SYSDATE(6) - INTERVAL ? SECOND ORDER BY id LIMIT ?`,
    parameters: [after, minimumAgeSeconds, limit],
  };
}

/**
 * Waiting rows of every datastore, oldest first, of any age: those that somebody may have been told are stored, or with
 * `gaveWay` the others.
 */
export function selectToBringBack(gaveWay: boolean, after: number, limit: number): Statement {
  return {
    sql: `SELECT ${PLACE}, created_at FROM ${CONTROL}.buffer WHERE state = 'waiting' AND answered ${gaveWay ? '>=' : '<'} writers AND id > ? ORDER BY id LIMIT ?`,
    parameters: [after, limit],
  };
}

/** Buffered writes with their bodies, by id, in no order. */
export function selectBuffered(ids: readonly number[]): Statement {
  return {
    sql: `SELECT ${PLACE}, body, created_at FROM ${CONTROL}.buffer WHERE id IN (${ids.map(() => '?').join(', ')})`,
    parameters: ids,
    ...(ids.length > 1 ? { parts: ids.map((id) => selectBuffered([id])) } : {}),
  };
}

/** Kept conflicts of one datastore by id, cut at `limit` or at `bytes` of bodies, once there is one. */
export function selectConflicts(datastore: string, after: number, limit: number, bytes: number): Statement {
  return {
    sql:
      `SELECT ${PLACE}, body, created_at FROM ${CONTROL}.buffer JOIN ` +
      `(SELECT id, SUM(bytes) OVER (ORDER BY id) - bytes AS before_it FROM ` +
      `(SELECT id, LENGTH(body) AS bytes FROM ${CONTROL}.buffer WHERE state = 'conflict' AND datastore = ? AND id > ? ORDER BY id LIMIT ?) AS page) AS sized ` +
      `USING (id) WHERE sized.before_it < ? ORDER BY id`,
    parameters: [datastore, after, limit, bytes],
  };
}

export function toWaitingRow(row: SqlRow): WaitingRow {
  return {
    id: toNumber(row[0]),
    datastore: toText(row[1]),
    shard: toNumber(row[2]),
    row_key: rowKeyOf(toBytes(row[3])),
    column_name: toText(row[4]),
    ref_key: toNumber(row[5]),
    body_hash: toBytes(row[6]),
  };
}

export function toBufferRow(row: SqlRow): BufferRow {
  return { ...toWaitingRow(row), body: toBytes(row[7]), created_at: fromSqlTime(String(row[8])) };
}
