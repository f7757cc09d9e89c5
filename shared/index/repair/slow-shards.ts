/** Shards whose rows timed out: nothing waits for them for a while. */
export interface SlowShards {
  has(shard: number): boolean;
  add(shard: number): void;
}

export function slowShards(restMs: number): SlowShards {
  const until = new Map<number, number>();
  return {
    has(shard) {
      const end = until.get(shard);
      if (end !== undefined && performance.now() >= end) until.delete(shard);
      return until.has(shard);
    },
    add: (shard) => void until.set(shard, performance.now() + restMs),
  };
}
