import { followerLag } from '../../../shared/follow/follower-lag.ts';
import { pendingMarks } from '../../../shared/index/repair/pending-marks.ts';
import { REPAIR_FOLLOWER } from '../../../shared/index/repair/repair-follower.ts';
import { untilBuffersEmpty } from '../buffers.ts';
import { until } from '../../support/until.ts';
import type { RunWorld } from '../../support/run-world.ts';
import type { OpenStore } from '../../support/store-access.ts';

const POLL_MS = 250;
const PATIENCE_MS = 90_000;

/**
 * Waits until every buffered write is on its primary, and, where one runs, until the repair has seen every cell and
 * owes no group anything.
 */
export async function untilQuiet(
  store: OpenStore,
  isRepaired: boolean,
  { signal, say }: Pick<RunWorld, 'signal' | 'say'>,
): Promise<void> {
  const start = performance.now();
  const { rows, seconds } = await untilBuffersEmpty(store.datastore, PATIENCE_MS, signal);
  if (rows > 0) throw new Error(`${rows} writes are left in the buffer`);
  if (!isRepaired) return;
  await until('the repair has caught up', () => isCaughtUp(store), {
    pollMs: POLL_MS,
    patienceMs: start + 2 * PATIENCE_MS - performance.now(),
    signal,
  });
  say(
    `buffers empty after ${seconds.toFixed(1)} s, the repair caught up after ${((performance.now() - start) / 1000).toFixed(1)} s`,
  );
}

async function isCaughtUp({ context, name, stateTable }: OpenStore): Promise<boolean> {
  const lag = await followerLag(stateTable, context, { name: REPAIR_FOLLOWER, datastore: name });
  // A shard without cells may have no offset.
  if (lag.some(({ offset = 0, head }) => head === undefined || offset !== head)) return false;
  const marks = pendingMarks(stateTable, name);
  const pending = await Promise.all((await context.groups.names()).map((group) => marks.read(group, lag.length)));
  return pending.every((shards) => shards.length === 0);
}
