import { pauseFor } from '../../pause-for.ts';
import { SIGN_OF_LIFE } from '../../sql/client.ts';
import type { Groups } from '../../access/groups.ts';

const PROBE_MS = 500;

export type AwayGroups = ReturnType<typeof awayGroups>;

/** Groups that failed and have not answered since: nothing waits for their timeouts again. */
export function awayGroups(groups: Groups, signal: AbortSignal) {
  const away = new Set<string>();

  async function probe(group: string): Promise<void> {
    while (!signal.aborted) {
      await pauseFor(PROBE_MS, signal);
      const answers = await groups
        .client(group)
        .then((client) => client.select(SIGN_OF_LIFE, 'writer'))
        .catch(() => undefined);
      if (answers) break;
    }
    away.delete(group);
  }

  return {
    has: (group: string): boolean => away.has(group),
    add(group: string): void {
      if (away.has(group)) return;
      away.add(group);
      void probe(group);
    },
  };
}

export type SlowShards = ReturnType<typeof slowShards>;

/** Shards whose rows timed out: nothing waits for them for a while. */
export function slowShards(restMs: number) {
  const until = new Map<number, number>();
  return {
    has(shard: number): boolean {
      const end = until.get(shard);
      if (end !== undefined && performance.now() >= end) until.delete(shard);
      return until.has(shard);
    },
    add: (shard: number): void => void until.set(shard, performance.now() + restMs),
  };
}
