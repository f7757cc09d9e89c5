import { crc32 } from 'node:zlib';
import { rowKeyBytes } from './address.ts';

/**
 * The shard of a row: CRC32 of the 16 bytes of its key, modulo the number of shards.
 *
 * An operator finds it by hand: `SELECT CRC32(UNHEX(REPLACE('6e3a0f9c-…', '-', ''))) % 4096`.
 */
export function shardOf(rowKey: string, shards: number): number {
  return crc32(rowKeyBytes(rowKey)) % shards;
}

/** The name of a shard's database: `trips_0233`. Five digits only where there are over 10,000 shards. */
export function shardDatabase(datastore: string, shard: number): string {
  return `${datastore}_${String(shard).padStart(4, '0')}`;
}

/** The name of the database of a shard's copy, on the group that holds it: `trips_0233_copy`. */
export function copyDatabase(datastore: string, shard: number): string {
  return `${shardDatabase(datastore, shard)}_copy`;
}
