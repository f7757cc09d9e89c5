/** Shards whose rows took a whole time limit, asked by themselves: for a while nobody waits for that again. */
export interface SlowShards {
  has(shard: number): boolean;
  add(shard: number): void;
}

/** @param restMs far longer than the time limit that is lost each time */
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
