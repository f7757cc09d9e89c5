import type { Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { unionOf } from '../union.ts';
import { PLACE } from './select-buffered.ts';

/** A part of a buffer table: the rows of one shard beyond an id. */
export interface WaitingPlace {
  readonly datastore: string;
  readonly shard: number;
  readonly after: number;
}

/**
 * The first waiting rows of some shards, each in the order in which they came.
 *
 * @param upTo the highest id that is old enough
 * @param limit rows of each shard
 */
export function selectWaiting(places: readonly WaitingPlace[], upTo: number, limit: number): Statement {
  return unionOf(
    places.map(({ datastore, shard, after }) => ({
      sql: `(SELECT ${PLACE} FROM ${CONTROL}.buffer WHERE state = 'waiting' AND datastore = ? AND shard = ? AND id > ? AND id <= ? ORDER BY id LIMIT ?)`,
      parameters: [datastore, shard, after, upTo, limit],
    })),
  );
}
