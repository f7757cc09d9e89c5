import type { CellAddress, Json, NewCell } from '../../shared/cell.ts';
import type { Datastore } from '../../shared/contract/datastore.ts';
import { shardOf } from '../../shared/address.ts';
import type { Random } from '../support/random.ts';
import { randomRowKey } from '../support/row-key.ts';

export async function shardsOf(datastore: Pick<Datastore, 'heads'>, group: string): Promise<ReadonlySet<number>> {
  return new Set((await datastore.heads()).filter((head) => head.group === group).map(({ shard }) => shard));
}

export function rowKeyIn(random: Random, shards: ReadonlySet<number>, ofDatastore: number): string {
  for (;;) {
    const rowKey = randomRowKey(random);
    if (shards.has(shardOf(rowKey, ofDatastore))) return rowKey;
  }
}

export function baseCell(row_key: string, body: Json): NewCell {
  return { row_key, column_name: 'BASE', ref_key: 1, body };
}

/** Returns only the address of a cell. */
export function addressAlone({ row_key, column_name, ref_key }: CellAddress): CellAddress {
  return { row_key, column_name, ref_key };
}
