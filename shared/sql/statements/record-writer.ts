import type { Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

/** What is recorded as the writer of a shard for which nobody is known to have every acknowledged cell. */
export const NOBODY = 0;

/**
 * Forgets that another server than the one that answers is the writer of shards. Else one that is made anew under an
 * old id, from a server that lacks cells, would pass for the one that had them all. Locks no row but theirs: appends to
 * open shards need those.
 */
export function forgetWriters(datastore: string, shards: readonly number[]): Statement {
  return {
    sql: `UPDATE ${CONTROL}.shard SET writer_id = ${NOBODY} WHERE writer_id <> @@server_id AND datastore = ? AND shard IN (${shards.map(() => '?').join(', ')})`,
    parameters: [datastore, ...shards],
  };
}

/**
 * Lets a server take the appends of shards of which nobody was the writer: it has every acknowledged cell of them.
 * Nothing where another one has become the writer meanwhile.
 */
export function recordWriter(serverId: number, datastore: string, shards: readonly number[]): Statement {
  return {
    sql: `UPDATE ${CONTROL}.shard SET writer_id = ? WHERE writer_id = ${NOBODY} AND @@server_id = ? AND datastore = ? AND shard IN (${shards.map(() => '?').join(', ')})`,
    parameters: [serverId, serverId, datastore, ...shards],
  };
}
