import type { TopologySource } from './topology.ts';

const EVERY_MS = 1000;
const refreshedAt = new WeakMap<TopologySource, number>();

/**
 * Refreshes a topology unless that was done so a moment ago: for what any client can cause as often as it likes, such
 * as writes to a shard that is closed. Each refresh scans the table. `everyMs`: how long ago @default a second.
 */
export function refreshSoon(topology: TopologySource, everyMs = EVERY_MS): void {
  const now = performance.now();
  if (now - (refreshedAt.get(topology) ?? Number.NEGATIVE_INFINITY) < everyMs) return;
  refreshedAt.set(topology, now);
  topology.refresh();
}
