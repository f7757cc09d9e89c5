import type { Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

/** What is recorded as the writer of a shard for which nobody is known to have every acknowledged cell. */
export const NOBODY = 0;

/**
 * What is recorded as the writer of a shard whose log was set back in time: it may lack, too, what all nodes had shown
 * before. No server of a store has this id, the highest that there is.
 */
export const SET_BACK = 4_294_967_295;

/**
 * Forgets that another server than the one that answers is the writer of shards. Else one that is made anew under an
 * old id, from a server that lacks cells, would pass for the one that had them all. Locks no row but theirs: appends to
 * open shards need those.
 */
export function forgetWriters(datastore: string, shards: readonly number[]): Statement {
  return {
    sql: `UPDATE ${CONTROL}.shard SET writer_id = ${NOBODY} WHERE writer_id NOT IN (@@server_id, ${SET_BACK}) AND datastore = ? AND shard IN (${shards.map(() => '?').join(', ')})`,
    parameters: [datastore, ...shards],
  };
}

/** The server that has every acknowledged cell of some shards now. */
interface RecordedWriter {
  readonly serverId: number;
  /** What was recorded when it was begun to bring back what they lacked: `NOBODY`, or `SET_BACK`. */
  readonly instead: number;
  /** Every node of its group has the same cells: then it is not recorded who the writer is. */
  readonly isStorageShared: boolean;
}

/**
 * Lets a server take the appends of shards of which nobody was the writer: it has every acknowledged cell of them. Where
 * their logs end is not known, since what was brought back was not numbered. Nothing where another one has become the
 * writer meanwhile, or where they were set back since.
 */
export function recordWriter(
  { serverId, instead, isStorageShared }: RecordedWriter,
  datastore: string,
  shards: readonly number[],
): Statement {
  return {
    sql: `UPDATE ${CONTROL}.shard SET writer_id = ?, head_epoch = NULL WHERE writer_id = ? AND @@server_id = ? AND datastore = ? AND shard IN (${shards.map(() => '?').join(', ')})`,
    parameters: [isStorageShared ? null : serverId, instead, serverId, datastore, ...shards],
  };
}

/**
 * Says of all shards of a group that their logs were set back in time: they take no appends until what they lack was
 * brought back. For who sets a group back, before anybody else reaches it.
 */
export const MARK_SET_BACK = `UPDATE ${CONTROL}.shard SET writer_id = ${SET_BACK}`;
