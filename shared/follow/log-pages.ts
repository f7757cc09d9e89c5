import { slicesOf } from '../slices-of.ts';

/** Shards that one statement reads, or half as many more: 64 take about 1 ms, far more take longer each. */
export const SHARDS_A_PAGE = 64;

/** Splits shards into pages of similar size, so that none holds only a few that are left. */
export function inPages<Shard>(shards: readonly Shard[]): Shard[][] {
  const pages = Math.max(1, Math.round(shards.length / SHARDS_A_PAGE));
  return slicesOf(shards, Math.ceil(shards.length / pages));
}
