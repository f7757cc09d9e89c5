import type { HeardGroup } from './bells.ts';

/** The shards of a datastore that rang and were not read since. */
export interface RungShards {
  /** See `Listening`. */
  since(): number | undefined;
  has(shard: number): boolean;
  all(): Iterable<number>;
  /** Forgets shards that are read now. What rang and is not read, since it is busy or of another worker, wakes no pass. */
  take(shards: readonly number[]): void;
  /** Waits for a new ring, the end of the time, or the signal. */
  orAfter(milliseconds: number, signal: AbortSignal): Promise<void>;
  stop(): void;
}

export function rungShards(bells: HeardGroup | undefined, datastore: string): RungShards {
  const rung = new Set<number>();
  let isNews = false;
  let wake: (() => void) | undefined;
  const listening = bells?.listen(datastore, (shards) => {
    for (const shard of shards) rung.add(shard);
    isNews = true;
    wake?.();
  });
  return {
    since: () => listening?.since(),
    has: (shard) => rung.has(shard),
    all: () => rung,
    take(shards) {
      for (const shard of shards) rung.delete(shard);
      isNews = false;
    },
    orAfter(milliseconds, signal) {
      return new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', end);
          wake = undefined;
          resolve();
        };
        const timer = setTimeout(end, Math.max(0, milliseconds));
        signal.addEventListener('abort', end, { once: true });
        wake = end;
        if (isNews || signal.aborted) end();
      });
    },
    stop: () => listening?.stop(),
  };
}
