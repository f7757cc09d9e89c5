import type { Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

/** Recorded as the writer if no server is known to have every acknowledged cell. */
export const NOBODY = 0;

/** The writer of a restored log, which may lack cells that all nodes had shown. No server has this id. */
export const RESTORED = 4_294_967_295;

/** Forgets other servers as writers: a server rebuilt under an old id would pass for one with all cells. */
export function forgetWriters(datastore: string, shards: readonly number[]): Statement {
  return {
    sql: `UPDATE ${CONTROL}.shard SET writer_id = ${NOBODY} WHERE writer_id NOT IN (@@server_id, ${RESTORED}) AND datastore = ? AND shard IN (${shards.map(() => '?').join(', ')})`,
    parameters: [datastore, ...shards],
  };
}

interface RecordedWriter {
  readonly serverId: number;
  /** The value that was recorded when the recovery began: `NOBODY`, or `RESTORED`. */
  readonly instead: number;
  readonly isStorageShared: boolean;
}

/**
 * Lets a server take appends of shards that had no writer, since it has every acknowledged cell now. Forgets their
 * logs' ends: what was brought back was not numbered. Does nothing if another writer was recorded, or they were
 * restored since.
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

/** Closes all shards of a restored group until what they lack is brought back; sent before anything else reaches it. */
export const MARK_RESTORED = `UPDATE ${CONTROL}.shard SET writer_id = ${RESTORED}`;
