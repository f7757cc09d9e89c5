import { pauseFor } from '../../pause-for.ts';
import { HEALTH_CHECK } from '../../sql/client.ts';
import type { Groups } from '../../access/groups.ts';

const PROBE_MS = 500;

export type UnavailableGroups = ReturnType<typeof unavailableGroups>;

/** Groups that failed and have not answered since: nothing waits for their timeouts again. */
export function unavailableGroups(groups: Groups, signal: AbortSignal) {
  const unavailable = new Set<string>();

  async function probe(group: string): Promise<void> {
    while (!signal.aborted) {
      await pauseFor(PROBE_MS, signal);
      const answers = await groups
        .client(group)
        .then((client) => client.select(HEALTH_CHECK, 'writer'))
        .catch(() => undefined);
      if (answers) break;
    }
    unavailable.delete(group);
  }

  return {
    has: (group: string): boolean => unavailable.has(group),
    add(group: string): void {
      if (unavailable.has(group)) return;
      unavailable.add(group);
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
