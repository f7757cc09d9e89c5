import { pauseFor } from '../../pause-for.ts';
import { SIGN_OF_LIFE } from '../../sql/client.ts';
import type { Groups } from '../../access/groups.ts';

/** Groups that failed and have not answered since: nothing waits for their timeouts again. */
export interface AwayGroups {
  has(group: string): boolean;
  add(group: string): void;
}

const PROBE_MS = 500;

export function awayGroups(groups: Groups, signal: AbortSignal): AwayGroups {
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
    has: (group) => away.has(group),
    add(group) {
      if (away.has(group)) return;
      away.add(group);
      void probe(group);
    },
  };
}

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
