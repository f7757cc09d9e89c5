import type { Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import type { ShardFence } from './append-cells.ts';

/**
 * From here on appends of the shard look for erasures: said before the first one comes to its log. Whoever goes on
 * without looking appends nothing any more.
 */
export function heedErasures({ datastore, shard, epoch }: ShardFence): Statement {
  return {
    sql: `UPDATE ${CONTROL}.shard SET heeds = 1 WHERE datastore = ? AND shard = ? AND epoch = ?`,
    parameters: [datastore, shard, epoch],
  };
}

/**
 * Whether they do, as a branch of a union over cells: in the place of a head.
 *
 * @param item by which its row is told from those of other branches
 */
export function selectHeeds(datastore: string, shard: number, item: number): Statement {
  return {
    sql: `(SELECT ${item}, ${shard}, heeds, NULL, NULL, NULL, NULL, NULL FROM ${CONTROL}.shard WHERE datastore = ? AND shard = ?)`,
    parameters: [datastore, shard],
  };
}
