import { toNumber } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { entityTable } from '../names.ts';
import { unionOf } from '../union.ts';

export function selectHeads(datastore: string, shards: readonly number[]): Statement {
  const parts = shards.map((shard): Statement => {
    const entity = entityTable(datastore, shard);
    return {
      sql: `SELECT ${shard} AS shard, COALESCE(MAX(added_id), 0) AS head FROM ${entity}`,
      parameters: [],
      table: entity,
    };
  });
  return unionOf(parts);
}

export function toHeads(rows: readonly SqlRow[]): Map<number, number> {
  return new Map(rows.map((row) => [toNumber(row[0]), toNumber(row[1])]));
}
