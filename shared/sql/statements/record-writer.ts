import type { Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

/** Lets a server take appends: it has every acknowledged cell. Nothing where another one has become the writer meanwhile. */
export function recordWriter(serverId: number): Statement {
  return { sql: `UPDATE ${CONTROL}.shard SET writer_id = ? WHERE writer_id IS NOT NULL AND @@server_id = ?`, parameters: [serverId, serverId] };
}
