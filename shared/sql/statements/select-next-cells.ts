import { toNumber } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { entityTable } from '../names.ts';
import { unionOf } from '../union.ts';
import type { LogRange } from './select-log-entries.ts';

/**
 * Which of many shards have the cell that follows the one done last: added ids are dense, so that it can only be the
 * next number, and each shard costs one look at its primary key. A fifth of what `selectLogEntries` costs the server.
 */
export function selectNextCells(datastore: string, ranges: readonly LogRange[]): Statement {
  // Numbers stand in the text: thousands of values to bind would cost the client more than the server's answer.
  const parts = ranges.map(({ shard, at }, item): Statement => {
    const entity = entityTable(datastore, shard);
    return { sql: `SELECT ${item} AS item FROM ${entity} WHERE added_id = ${at + 1}`, parameters: [], table: entity };
  });
  return unionOf(parts);
}

/** The places, among the ranges, of those that have a next cell. */
export function toItems(rows: readonly SqlRow[]): ReadonlySet<number> {
  return new Set(rows.map(([item]) => toNumber(item)));
}
