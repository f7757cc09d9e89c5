import { toNumber } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

/** The server that answers, and whether it owns shards whose acknowledged cells it may lack: another was their writer. */
export function selectUnknownWriter(): Statement {
  return { sql: `SELECT @@server_id, COUNT(*) FROM ${CONTROL}.shard WHERE writer_id <> @@server_id`, parameters: [] };
}

/** @returns the server's id where it is not known to have every cell */
export function toUnknownWriter([row]: readonly SqlRow[]): number | undefined {
  return row && toNumber(row[1]) > 0 ? toNumber(row[0]) : undefined;
}
