import type { Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { unionOf } from '../union.ts';
import { KEY_COLUMNS } from './select-buffered.ts';

export interface WaitingFrom {
  readonly datastore: string;
  readonly shard: number;
  readonly after: number;
}

/**
 * Selects the first `limit` waiting rows of each shard up to an id. The index is named: after a rebuild MySQL reads the
 * whole table until it has counted rows.
 */
export function selectWaiting(shards: readonly WaitingFrom[], upTo: number, limit: number): Statement {
  return unionOf(
    shards.map(({ datastore, shard, after }) => ({
      sql: `(SELECT ${KEY_COLUMNS} FROM ${CONTROL}.buffer FORCE INDEX (place) WHERE state = 'waiting' AND datastore = ? AND shard = ? AND id > ? AND id <= ? ORDER BY id LIMIT ?)`,
      parameters: [datastore, shard, after, upTo, limit],
    })),
  );
}
