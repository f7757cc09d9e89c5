import type { Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

/** Raises a shard's epoch, never lowers it. Waits for the append under way; no later one of an older epoch passes. */
export function raiseShardEpoch(datastore: string, shard: number, epoch: number): Statement {
  return {
    sql: `UPDATE ${CONTROL}.shard SET epoch = ? WHERE datastore = ? AND shard = ? AND epoch < ?`,
    parameters: [epoch, datastore, shard, epoch],
  };
}
