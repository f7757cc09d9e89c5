import type { HeardGroup } from './bells.ts';

export type RungShards = ReturnType<typeof rungShards>;

export function rungShards(bells: HeardGroup | undefined, datastore: string) {
  const rung = new Set<number>();
  let isNews = false;
  let wake: (() => void) | undefined;
  const listening = bells?.listen(datastore, (shards) => {
    for (const shard of shards) rung.add(shard);
    isNews = true;
    wake?.();
  });
  return {
    /** See `Listening`. */
    since: (): number | undefined => listening?.since(),
    has: (shard: number): boolean => rung.has(shard),
    all: (): Iterable<number> => rung,
    /** Forgets shards that are read now. What rang and is not read, since it is busy or of another worker, wakes no pass. */
    take(shards: readonly number[]): void {
      for (const shard of shards) rung.delete(shard);
      isNews = false;
    },
    /** Waits for a new ring, the end of the time, or the signal. */
    orAfter(milliseconds: number, signal: AbortSignal): Promise<void> {
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
    stop: (): void => listening?.stop(),
  };
}
