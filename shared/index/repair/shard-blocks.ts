/**
 * Shards of which one item of the state table keeps something: with some 60 bytes for each it stays far below
 * DynamoDB's 400 KB.
 */
const SHARDS_OF_A_BLOCK = 4096;

export function blockOf(shard: number): number {
  return Math.floor(shard / SHARDS_OF_A_BLOCK);
}
