import type { Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { unionOf } from '../union.ts';
import { KEY_COLUMNS } from './select-buffered.ts';

/** A part of a buffer table: the rows of one shard beyond an id. */
export interface WaitingFrom {
  readonly datastore: string;
  readonly shard: number;
  readonly after: number;
}

/**
 * The first waiting rows of some shards, each in the order in which they came. The index is named: once
 * the table was rebuilt, MySQL reads all of it by its ids, until it has counted rows again.
 *
 * @param upTo the highest id that is old enough
 * @param limit rows of each shard
 */
export function selectWaiting(shards: readonly WaitingFrom[], upTo: number, limit: number): Statement {
  return unionOf(
    shards.map(({ datastore, shard, after }) => ({
      sql: `(SELECT ${KEY_COLUMNS} FROM ${CONTROL}.buffer FORCE INDEX (place) WHERE state = 'waiting' AND datastore = ? AND shard = ? AND id > ? AND id <= ? ORDER BY id LIMIT ?)`,
      parameters: [datastore, shard, after, upTo, limit],
    })),
  );
}
