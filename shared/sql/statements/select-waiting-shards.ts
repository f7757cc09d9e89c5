import { toNumber, toText } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

/** What waits in a buffer table for one shard. */
export interface WaitingShard {
  readonly datastore: string;
  readonly shard: number;
  /** Id of the first that came. */
  readonly first: number;
  readonly rows: number;
}

export interface WaitingShards {
  readonly shards: readonly WaitingShard[];
  /** Highest id of all rows, of whatever state; 0 where there are none. */
  readonly last: number;
  /** So many wait that not all were counted: `rows` says nothing then. */
  readonly areMany: boolean;
}

const FIRST_OF_SHARDS = `SELECT datastore, shard, NULL, MIN(id) FROM ${CONTROL}.buffer FORCE INDEX FOR GROUP BY (place) GROUP BY state, datastore, shard HAVING state = 'waiting'`;

/** More rows are not counted: this is looked at every second, and a table that has grown for hours must not keep itself from being drained. */
const MOST_COUNTED = 100_000;

/**
 * By the key alone, shard by shard: a table full of bodies is not read through, nor one with millions of rows. The state is
 * grouped by, and not asked for: only so do both engines step from shard to shard.
 */
export function selectWaitingShards(mostCounted = MOST_COUNTED): Statement {
  return {
    sql:
      `SELECT NULL AS datastore, 0 AS shard, 0 AS waiting, COALESCE(MAX(id), 0) AS id FROM ${CONTROL}.buffer UNION ALL ` +
      `(${FIRST_OF_SHARDS}) UNION ALL ` +
      `(SELECT datastore, shard, COUNT(*), NULL FROM (SELECT datastore, shard FROM ${CONTROL}.buffer WHERE state = 'waiting' LIMIT ?) AS counted GROUP BY datastore, shard)`,
    parameters: [mostCounted],
  };
}

export function toWaitingShards(rows: readonly SqlRow[]): WaitingShards {
  const counts = new Map<string, number>();
  const shards: WaitingShard[] = [];
  let [last, counted] = [0, 0];
  for (const [datastore, shard, count] of rows) {
    if (datastore === null || count === null) continue;
    counts.set(`${toText(datastore)}/${toNumber(shard)}`, toNumber(count));
    counted += toNumber(count);
  }
  for (const [datastore, shard, count, id] of rows) {
    if (datastore === null) last = toNumber(id);
    else if (count === null) shards.push({ datastore: toText(datastore), shard: toNumber(shard), first: toNumber(id), rows: counts.get(`${toText(datastore)}/${toNumber(shard)}`) ?? 0 });
  }
  return { shards, last, areMany: counted >= MOST_COUNTED };
}
