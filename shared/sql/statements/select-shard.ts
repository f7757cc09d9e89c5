import type { SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { toNumber, toText } from '../cell-rows.ts';

interface ShardRow {
  readonly epoch: number;
  /** Only an `open` shard takes appends. */
  readonly state: string;
  /** False while the server may lack acknowledged cells: it takes no appends until they are brought back. */
  readonly hasWriter: boolean;
}

/** Selects a shard's lock row; none if the group does not own it. */
export function selectShard(datastore: string, shard: number): Statement {
  return {
    sql: `SELECT epoch, state, writer_id IS NULL OR writer_id = @@server_id FROM ${CONTROL}.shard WHERE datastore = ? AND shard = ?`,
    parameters: [datastore, shard],
  };
}

export function toShardRow(rows: readonly SqlRow[]): ShardRow | undefined {
  const row = rows[0];
  return row && { epoch: toNumber(row[0]), state: toText(row[1]), hasWriter: toNumber(row[2]) === 1 };
}
