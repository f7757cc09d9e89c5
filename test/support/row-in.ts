import { randomUUID } from 'node:crypto';
import { shardOf } from '../../shared/address.ts';
import type { ShardHead } from '../../shared/contract/datastore.ts';

/** A new row key whose shard lies in a group, and the shard. */
export function rowIn(heads: readonly ShardHead[], group: string): { readonly row: string; readonly shard: number } {
  for (;;) {
    const row = randomUUID();
    const shard = shardOf(row, heads.length);
    if (heads.find((head) => head.shard === shard)?.group === group) return { row, shard };
  }
}
