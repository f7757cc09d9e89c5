/**
 * Where a shard's moments lie between two of a clock's: a part of 1, as good as random, so that those of many shards are
 * spread over the time.
 */
export function phaseOf(shard: number): number {
  return (shard * 0.618_033_988_749_895) % 1;
}
