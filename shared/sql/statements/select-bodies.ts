import { toBytes, toNumber, toText } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { quoteName } from '../names.ts';
import type { ErasureTarget } from '../../address.ts';
import { rangeOf } from './erasure-range.ts';

export interface BodyToErase {
  readonly added_id: number;
  readonly column_name: string;
  readonly ref_key: number;
  readonly body: Uint8Array;
}

export const HAS_BODY = "body IS NOT NULL AND LEFT(body, 1) <> X'00'";

/**
 * Selects the next bodies to erase, of a shard or its copy, by the unique key: at most `limit`, and `bytes` once there
 * is one. FOR UPDATE: a MariaDB snapshot may hide the last commit, and nothing checks again.
 */
export function selectBodies(
  database: string,
  target: ErasureTarget,
  after: Pick<BodyToErase, 'column_name' | 'ref_key'> | undefined,
  limit: number,
  bytes: number,
): Statement {
  const entity = `${quoteName(database)}.\`entity\``;
  const range = rangeOf(target);
  const beyond = after ? ' AND (column_name > ? OR (column_name = ? AND ref_key > ?))' : '';
  const column = after && Buffer.from(after.column_name);
  return {
    table: entity,
    sql:
      `SELECT added_id, column_name, ref_key, body FROM (SELECT added_id AS sized_id, SUM(bytes) OVER (ORDER BY column_name, ref_key) - bytes AS taken FROM ` +
      `(SELECT added_id, column_name, ref_key, LENGTH(body) AS bytes FROM ${entity} FORCE INDEX (cell) WHERE ${range.sql}${beyond} AND ${HAS_BODY} ` +
      `ORDER BY column_name, ref_key LIMIT ? FOR UPDATE) AS page) AS sized STRAIGHT_JOIN ${entity} FORCE INDEX (PRIMARY) ON added_id = sized_id WHERE taken < ? ORDER BY column_name, ref_key FOR UPDATE`,
    parameters: [...range.parameters, ...(after && column ? [column, column, after.ref_key] : []), limit, bytes],
  };
}

export function toBodyToErase([added_id, column_name, ref_key, body]: SqlRow): BodyToErase {
  return {
    added_id: toNumber(added_id),
    column_name: toText(column_name),
    ref_key: toNumber(ref_key),
    body: toBytes(body),
  };
}
