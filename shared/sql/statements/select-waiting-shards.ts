import { toNumber, toText } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

export interface WaitingShard {
  readonly datastore: string;
  readonly shard: number;
  /** Id of the first that came. */
  readonly first: number;
  readonly rows: number;
}

interface WaitingShards {
  readonly shards: readonly WaitingShard[];
  /** Highest id of all rows, of whatever state; 0 where there are none. */
  readonly last: number;
  /** So many wait that not all were counted: `rows` says nothing then. */
  readonly areMany: boolean;
}

const FIRST_OF_SHARDS = `SELECT datastore, shard, MIN(id) AS id FROM ${CONTROL}.buffer FORCE INDEX FOR GROUP BY (place) GROUP BY state, datastore, shard HAVING state = 'waiting'`;

/**
 * More rows are not counted: this is looked at every second, and a table that has grown for hours must not keep itself
 * from being drained.
 */
const MOST_COUNTED = 100_000;

/**
 * By the key alone, shard by shard: a table full of bodies is not read through, nor one with millions of rows. The
 * state is grouped by, and not asked for: only so do both engines step from shard to shard.
 */
export function selectWaitingShards(mostCounted = MOST_COUNTED): Statement {
  return {
    sql:
      `SELECT NULL AS datastore, 0 AS shard, 0 AS counted, COALESCE(MAX(id), 0) AS id FROM ${CONTROL}.buffer UNION ALL ` +
      `SELECT first.datastore, first.shard, COALESCE(some.counted, 0), first.id FROM (${FIRST_OF_SHARDS}) AS first LEFT JOIN ` +
      `(SELECT datastore, shard, COUNT(*) AS counted FROM (SELECT datastore, shard FROM ${CONTROL}.buffer FORCE INDEX (place) WHERE state = 'waiting' LIMIT ?) AS waiting GROUP BY datastore, shard) AS some ` +
      `ON some.datastore = first.datastore AND some.shard = first.shard`,
    parameters: [mostCounted],
  };
}

export function toWaitingShards(rows: readonly SqlRow[]): WaitingShards {
  const shards: WaitingShard[] = [];
  let last = 0;
  for (const [datastore, shard, count, id] of rows) {
    if (datastore === null) last = toNumber(id);
    else
      shards.push({ datastore: toText(datastore), shard: toNumber(shard), first: toNumber(id), rows: toNumber(count) });
  }
  return { shards, last, areMany: shards.reduce((sum, shard) => sum + shard.rows, 0) >= MOST_COUNTED };
}
