import { pauseFor } from '../../pause-for.ts';
import type { Groups } from '../../access/groups.ts';

/** Groups that failed and have not answered since: nobody waits for their timeouts again and again. */
export interface AwayGroups {
  has(group: string): boolean;
  add(group: string): void;
}

/** Between signs of life asked of a group that failed. */
const PROBE_MS = 500;

/** Remembers groups that failed until they answer, or the signal comes. */
export function awayGroups(groups: Groups, signal: AbortSignal): AwayGroups {
  const away = new Set<string>();

  async function probe(group: string): Promise<void> {
    while (!signal.aborted) {
      await pauseFor(PROBE_MS, signal);
      const answers = await groups
        .client(group)
        .then((client) => client.select({ sql: 'SELECT 1', parameters: [] }, 'writer'))
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
