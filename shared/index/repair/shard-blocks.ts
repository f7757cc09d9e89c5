/** Shards of one item of the state table: at 60 bytes each it stays far below 400 KB. */
const SHARDS_OF_A_BLOCK = 4096;

export function blockOf(shard: number): number {
  return Math.floor(shard / SHARDS_OF_A_BLOCK);
}
