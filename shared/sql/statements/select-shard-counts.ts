import { toNumber, toText } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

export function selectShardCounts(): Statement {
  return {
    sql: `SELECT datastore, COUNT(*) FROM ${CONTROL}.shard WHERE state <> 'moved' GROUP BY datastore`,
    parameters: [],
  };
}

export function toShardCounts(rows: readonly SqlRow[]): ReadonlyMap<string, number> {
  return new Map(rows.map(([datastore, count]) => [toText(datastore ?? null), toNumber(count)]));
}
