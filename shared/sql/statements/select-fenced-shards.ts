import { toNumber, toText } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { NOBODY, RESTORED } from './record-writer.ts';

export interface FencedShard {
  readonly datastore: string;
  readonly shard: number;
  readonly serverId: number;
  readonly hasWriter: boolean;
  /** It was restored: it may lack what all nodes had shown. */
  readonly isRestored: boolean;
}

/** Selects the shards whose acknowledged cells the answering server may lack. */
export function selectFencedShards(): Statement {
  return {
    sql: `SELECT datastore, shard, @@server_id, writer_id FROM ${CONTROL}.shard WHERE writer_id <> @@server_id ORDER BY datastore, shard`,
    parameters: [],
  };
}

export function toFencedShards(rows: readonly SqlRow[]): FencedShard[] {
  return rows.map(([datastore, shard, serverId, writerId]) => ({
    datastore: toText(datastore),
    shard: toNumber(shard),
    serverId: toNumber(serverId),
    hasWriter: ![NOBODY, RESTORED].includes(toNumber(writerId)),
    isRestored: toNumber(writerId) === RESTORED,
  }));
}
