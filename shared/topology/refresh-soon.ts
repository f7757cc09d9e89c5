import type { TopologySource } from './topology.ts';

const EVERY_MS = 1000;
const refreshedAt = new WeakMap<TopologySource, number>();

/**
 * Refreshes a topology, unless this was done less than `everyMs` ago: each refresh scans the table. For causes that any
 * client can repeat at will, such as writes to a closed shard. `everyMs`: @default a second.
 */
export function refreshSoon(topology: TopologySource, everyMs = EVERY_MS): void {
  const now = performance.now();
  if (now - (refreshedAt.get(topology) ?? Number.NEGATIVE_INFINITY) < everyMs) return;
  refreshedAt.set(topology, now);
  topology.refresh();
}
