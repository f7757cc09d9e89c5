import { toNumber, toText } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { unionOf } from '../union.ts';
import { KEY_COLUMNS } from './select-buffered.ts';

export interface WaitingFrom {
  readonly datastore: string;
  readonly shard: number;
  readonly after: number;
}

/** Selects each shard's first `limit` waiting rows. Names the index: after a rebuild MySQL scans all. */
export function selectWaiting(shards: readonly WaitingFrom[], upTo: number, limit: number): Statement {
  return unionOf(
    shards.map(({ datastore, shard, after }) => ({
      sql: `(SELECT ${KEY_COLUMNS} FROM ${CONTROL}.buffer FORCE INDEX (place) WHERE state = 'waiting' AND datastore = ? AND shard = ? AND id > ? AND id <= ? ORDER BY id LIMIT ?)`,
      parameters: [datastore, shard, after, upTo, limit],
    })),
  );
}

export interface WaitingShard {
  readonly datastore: string;
  readonly shard: number;
  readonly first: number;
  readonly rows: number;
}

interface WaitingShards {
  readonly shards: readonly WaitingShard[];
  /** The highest id of all states, or 0. */
  readonly last: number;
  /** Not all were counted: `rows` says nothing. */
  readonly areMany: boolean;
}

const FIRST_OF_SHARDS = `SELECT datastore, shard, MIN(id) AS id FROM ${CONTROL}.buffer FORCE INDEX FOR GROUP BY (place) GROUP BY state, datastore, shard HAVING state = 'waiting'`;

/** Bounds the count, which runs every second: a table that grew for hours must still be drained. */
const MOST_COUNTED = 100_000;

/** Steps by the key from shard to shard, past bodies and millions of rows, since it groups by the state. */
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
