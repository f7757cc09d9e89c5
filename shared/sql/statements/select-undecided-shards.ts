import { toNumber, toText } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

export function selectUndecidedShards(): Statement {
  return { sql: `SELECT DISTINCT datastore, shard FROM ${CONTROL}.buffer WHERE state = 'undecided'`, parameters: [] };
}

export function toUndecidedShards(rows: readonly SqlRow[]): { readonly datastore: string; readonly shard: number }[] {
  return rows.map(([datastore, shard]) => ({ datastore: toText(datastore), shard: toNumber(shard) }));
}
