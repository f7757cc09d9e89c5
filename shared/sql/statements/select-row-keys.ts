import { rowKeyBytes, rowKeyOf } from '../../address.ts';
import { toBytes } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { entityTable } from '../names.ts';

export function selectRowKeys(datastore: string, shard: number, after: string | undefined, limit: number): Statement {
  const entity = entityTable(datastore, shard);
  return {
    table: entity,
    sql: `SELECT DISTINCT row_key FROM ${entity} FORCE INDEX (cell) ${after === undefined ? '' : 'WHERE row_key > ? '}ORDER BY row_key LIMIT ?`,
    parameters: after === undefined ? [limit] : [rowKeyBytes(after), limit],
  };
}

export function toRowKeys(rows: readonly SqlRow[]): string[] {
  return rows.map(([rowKey]) => rowKeyOf(toBytes(rowKey)));
}
