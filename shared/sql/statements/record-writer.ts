import type { Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

/** Lets a server take the appends of shards: it has every acknowledged cell of them. Nothing where another one has become the writer meanwhile. */
export function recordWriter(serverId: number, datastore: string, shards: readonly number[]): Statement {
  return {
    sql: `UPDATE ${CONTROL}.shard SET writer_id = ? WHERE writer_id IS NOT NULL AND @@server_id = ? AND datastore = ? AND shard IN (${shards.map(() => '?').join(', ')})`,
    parameters: [serverId, serverId, datastore, ...shards],
  };
}
