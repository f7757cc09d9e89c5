import { toNumber, toText } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

/** What waits in a buffer table for one shard. */
export interface WaitingShard {
  readonly datastore: string;
  readonly shard: number;
  readonly rows: number;
  /** Id of the first that came. */
  readonly first: number;
}

export interface WaitingShards {
  readonly shards: readonly WaitingShard[];
  /** Highest id of all rows, of whatever state; 0 where there are none. */
  readonly last: number;
}

/** By keys alone: a table full of bodies is not read through. */
export function selectWaitingShards(): Statement {
  return {
    sql:
      `SELECT NULL AS datastore, 0 AS shard, 0 AS waiting, COALESCE(MAX(id), 0) AS id FROM ${CONTROL}.buffer UNION ALL ` +
      `(SELECT datastore, shard, COUNT(*), MIN(id) FROM ${CONTROL}.buffer WHERE state = 'waiting' GROUP BY datastore, shard)`,
    parameters: [],
  };
}

export function toWaitingShards(rows: readonly SqlRow[]): WaitingShards {
  const shards: WaitingShard[] = [];
  let last = 0;
  for (const [datastore, shard, count, id] of rows) {
    if (datastore === null) last = toNumber(id);
    else shards.push({ datastore: toText(datastore), shard: toNumber(shard), rows: toNumber(count), first: toNumber(id) });
  }
  return { shards, last };
}
