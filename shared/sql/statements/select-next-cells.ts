import { toNumber } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { entityTable } from '../names.ts';
import { unionOf } from '../union.ts';
import type { LogRange } from './select-log-entries.ts';

/** Selects which shards have a next cell, which has the next number: a fifth of `selectLogEntries`. */
export function selectNextCells(datastore: string, ranges: readonly LogRange[]): Statement {
  // Numbers in the text: binding thousands would cost the client more than the answer.
  const parts = ranges.map(({ shard, at }, item): Statement => {
    const entity = entityTable(datastore, shard);
    return { sql: `SELECT ${item} AS item FROM ${entity} WHERE added_id = ${at + 1}`, parameters: [], table: entity };
  });
  return unionOf(parts);
}

export function toItems(rows: readonly SqlRow[]): ReadonlySet<number> {
  return new Set(rows.map(([item]) => toNumber(item)));
}
