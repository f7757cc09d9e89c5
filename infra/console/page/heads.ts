import type { ShardHeads } from './api.ts';

/** The ends of logs by shard, of those that answer, at a time of the page's clock. */
export type Heads = ReturnType<typeof headsOf>;

export function headsOf({ shards }: ShardHeads) {
  const known = shards.flatMap((one): [number, number][] => (one.error ? [] : [[one.shard, one.head]]));
  return { at: performance.now(), heads: new Map(known) };
}

/** Returns the cells a second that a shard took between two polls; undefined without both. */
export function rateOf(before: Heads | undefined, now: Heads, shard: number): number | undefined {
  const [earlier, head] = [before?.heads.get(shard), now.heads.get(shard)];
  if (!before || earlier === undefined || head === undefined) return undefined;
  return (Math.max(0, head - earlier) * 1000) / (now.at - before.at);
}
