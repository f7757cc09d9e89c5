import { rowKeyOf } from '../../address.ts';
import { toBytes, toNumber, toText } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { fromSqlTime } from '../../time.ts';

/** A hint without its body. */
export interface WaitingRow {
  readonly id: number;
  readonly datastore: string;
  readonly shard: number;
  readonly row_key: string;
  readonly column_name: string;
  readonly ref_key: number;
  readonly body_hash: Uint8Array;
}

export interface BufferRow extends WaitingRow {
  readonly body: Uint8Array;
  readonly created_at: string;
  /** The time that a restored cell is to have. */
  readonly stored_at?: string;
}

export const KEY_COLUMNS = 'id, datastore, shard, row_key, column_name, ref_key, body_hash';

/** `conflict`: another body is at the address. `in_doubt`: an operator has to choose. */
export type KeptState = 'conflict' | 'in_doubt';

/** The table of waiting hints, and that of drained ones. Each has ids of its own. */
export type CopyTable = 'buffer' | 'drained';

export function selectBuffered(ids: readonly number[], bytes: number, table: CopyTable = 'buffer'): Statement {
  const page = `SELECT id, LENGTH(body) AS bytes FROM ${CONTROL}.${table} FORCE INDEX (PRIMARY) WHERE id IN (${ids.map(() => '?').join(', ')})`;
  return { sql: withBodies(page, table), parameters: [...ids, bytes] };
}

/** A hint whose writers all were answered `buffered` gives way by itself, unless its body may have been read. */
export const MAY_BE_STORED = '(OCTET_LENGTH(answered) < OCTET_LENGTH(writers) OR shown = 1)';

export function selectKept(
  state: KeptState,
  datastore: string,
  after: number,
  limit: number,
  bytes: number,
): Statement {
  const isOpen = state === 'in_doubt' ? ` AND ${MAY_BE_STORED}` : '';
  const ids = `SELECT id FROM ${CONTROL}.buffer FORCE INDEX (place) WHERE state = ? AND datastore = ? AND id > ?${isOpen} ORDER BY id LIMIT ?`;
  return {
    sql: withBodies(
      `SELECT kept.id, LENGTH(body) AS bytes FROM (${ids}) AS kept STRAIGHT_JOIN ${CONTROL}.buffer AS copy FORCE INDEX (PRIMARY) ON copy.id = kept.id`,
    ),
    parameters: [state, datastore, after, limit, bytes],
  };
}

export function selectInDoubt(datastore: string, ids: readonly number[]): Statement {
  return {
    sql: `SELECT ${KEY_COLUMNS} FROM ${CONTROL}.buffer FORCE INDEX (PRIMARY) WHERE state = 'in_doubt' AND ${MAY_BE_STORED} AND datastore = ? AND id IN (${ids.map(() => '?').join(', ')})`,
    parameters: [datastore, ...ids],
  };
}

/** A drained cell is stored again with the time at which it first came. */
const STORED_AT: Readonly<Record<CopyTable, string>> = {
  buffer: 'stored_at',
  drained: 'COALESCE(stored_at, created_at)',
};

/** Reads by key in this order: with statistics of an empty table MySQL would begin with all rows. */
function withBodies(page: string, table: CopyTable = 'buffer'): string {
  return (
    `SELECT ${KEY_COLUMNS}, body, created_at, ${STORED_AT[table]} FROM ` +
    `(SELECT id AS sized_id, SUM(bytes) OVER (ORDER BY id) - bytes AS before_it FROM (${page}) AS page) AS sized ` +
    `STRAIGHT_JOIN ${CONTROL}.${table} FORCE INDEX (PRIMARY) ON id = sized_id WHERE sized.before_it < ? ORDER BY id`
  );
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
  const [body = null, created = null, stored = null] = row.slice(7);
  return {
    ...toWaitingRow(row),
    body: toBytes(body),
    created_at: fromSqlTime(String(created)),
    ...(stored !== null && { stored_at: fromSqlTime(String(stored)) }),
  };
}
