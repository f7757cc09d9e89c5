/** Shards that one statement reads, or half as many more: 64 take about 1 ms, far more take longer each. */
export const SHARDS_A_PAGE = 64;

/** Splits shards into pages of similar size, so that none holds only a few that are left. */
export function* inPages<Shard>(shards: readonly Shard[]): Generator<readonly Shard[], void> {
  const pages = Math.max(1, Math.round(shards.length / SHARDS_A_PAGE));
  const size = Math.max(1, Math.ceil(shards.length / pages));
  for (let start = 0; start < shards.length; start += size) yield shards.slice(start, start + size);
}
