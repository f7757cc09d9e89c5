import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreContext } from '../access/context.ts';
import { homeOf, requireDatastore } from '../access/groups.ts';
import { SchemalessError } from '../errors.ts';
import { refreshSoon } from '../topology/refresh-soon.ts';
import type { ShardHome, TopologySource } from '../topology/topology.ts';

/**
 * How long a write waits for a shard that is on its way to another group. A switch that takes longer is given up, and
 * the shard opened where it was.
 */
const HOLD_MS = 300;
const LOOK_EVERY_MS = 12;
/** A shard that stayed closed for so long keeps nobody waiting again before this time is over. */
const REST_MS = 2000;
/** Many writers find a shard closed at the same time: one look at the topology is enough for them. */
const REFRESH_MS = 8;

/** Until when, by `performance.now()`, nobody waits for shards that stayed closed. */
const resting = new WeakMap<TopologySource, Map<string, number>>();

function restsOf(topology: TopologySource): Map<string, number> {
  const known = resting.get(topology) ?? new Map<string, number>();
  resting.set(topology, known);
  return known;
}

/**
 * What a write does that found its shard closed, or gone: looks where the shard is now, and lets it try again there. One
 * that is being moved is waited for; whoever writes to it later than that is told so at once, and buffered.
 *
 * @returns to be called with where it was looked for: comes back when that is to be tried again
 * @throws SchemalessError `unavailable` where the shard takes no appends for longer
 */
export function whenOpened(
  context: StoreContext,
  datastore: string,
  shard: number,
): (tried: ShardHome) => Promise<void> {
  const { topology } = context;
  let since: number | undefined;

  return async (tried) => {
    const now = performance.now();
    if (since === undefined) {
      since = now;
      refreshSoon(topology, LOOK_EVERY_MS);
      context.report({ kind: 'topology_refreshed', datastore, shard });
      // One that is where it was, and has no copy, is looked at once more: it may have been opened meanwhile.
      return;
    }
    const rest = restsOf(topology);
    const name = `${datastore}/${shard}`;
    const home = homeOf(await requireDatastore(topology, datastore), shard);
    const isElsewhere = home.group !== tried.group || home.epoch !== tried.epoch;
    if (isElsewhere && now - since < HOLD_MS) return;
    if (!home.copy || now - since >= HOLD_MS || now < (rest.get(name) ?? 0)) {
      if (home.copy && now - since >= HOLD_MS) rest.set(name, now + REST_MS);
      throw new SchemalessError(
        'unavailable',
        `shard ${shard} of ${datastore} is closed, being moved, or being brought back from the buffers`,
      );
    }
    await sleep(LOOK_EVERY_MS * (0.75 + Math.random() / 2));
    refreshSoon(topology, REFRESH_MS);
  };
}
