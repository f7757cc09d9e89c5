import { followerLag, writerHeads, type ShardLag } from '../../follow/follower-lag.ts';
import { SqlError } from '../../sql/client.ts';
import type { StoreContext } from '../../access/context.ts';
import { requireDatastore, shardsByGroup } from '../../access/groups.ts';
import { writeIndexProgress } from '../../topology/index-now.ts';
import { setIndexState } from '../../topology/index-catalogue.ts';
import { buildName } from './build-follower.ts';
import type { LargestShares } from './largest-share.ts';
import { REPAIR_FOLLOWER } from './repair-follower.ts';
import type { RepairWork } from './repair-work.ts';

/** How long looked-up log ends are worth reaching. */
const TARGETS_MS = 10_000;
/** Progress is read this much less often while nothing is built. */
const IDLE_POLLS = 5;

interface Build {
  readonly targets: readonly number[];
  readonly takenAt: number;
}

/**
 * Watches the builds of a datastore: makes complete versions live, and writes the progress. A build is complete when it
 * passed the ends of all logs, taken after it began. Nothing is missed:
 *
 * - The build read the cells up to a log's end, and wrote their rows' entries after that.
 * - Cells behind it are the repair's, which looks up the versions after reading the cells, in a catalogue at most
 *   `versionsAgeMs` old. The ends are taken from the writers when the version has been listed for twice as long. No
 *   reader can have read a cell behind them before, so any finds the version, even a run about to end.
 * - The repair needs an offset for each shard before the ends are taken: a new repair begins at the ends of the logs.
 *
 * @returns a poll, to be repeated
 */
export function watchBuilds(work: RepairWork, shares: LargestShares): () => Promise<void> {
  const { context, stateTable, topologyTable, datastore, settings, report } = work;
  const builds = new Map<string, Build>();
  /** The lag last written by index, for one that is not built. */
  const written = new Map<string, number>();
  let polls = 0;

  const lagOf = (name: string): Promise<readonly ShardLag[]> => followerLag(stateTable, context, { name, datastore });

  /** Whether the build passed its targets; renews old ones. */
  async function isComplete(
    name: string,
    hash: string,
    ofBuild: readonly ShardLag[],
    ofRepair: readonly ShardLag[],
  ): Promise<boolean> {
    const known = builds.get(hash);
    const isPast = ({ targets }: Build): boolean =>
      ofBuild.every(({ offset = -1 }, shard) => offset >= (targets[shard] ?? 0));
    if (known && isPast(known)) return true;
    const now = performance.now();
    if (known && now - known.takenAt < TARGETS_MS) return false;
    builds.delete(hash);
    const seenAt = work.indexes.seenAt(datastore, name, hash) ?? now;
    if (now - seenAt < 2 * settings.versionsAgeMs || ofRepair.some(({ offset }) => offset === undefined)) return false;
    const targets = await endsOf(context, datastore);
    if (!targets) return false;
    builds.set(hash, { targets, takenAt: now });
    return isPast({ targets, takenAt: now });
  }

  return async () => {
    const catalogues = await work.indexes.catalogues(datastore);
    const isBuilding = catalogues.some(({ versions }) => versions.some(({ state }) => state === 'building'));
    polls += 1;
    if (!isBuilding && polls % IDLE_POLLS !== 1) return;
    const ofRepair = await lagOf(REPAIR_FOLLOWER);
    const lag = sum(ofRepair.map(({ offset = 0, head = 0 }) => Math.max(0, head - offset)));
    if (catalogues.length > 0) report({ datastore, kind: 'lag', cells: lag });
    for (const { name, versions } of catalogues) {
      const progress: Record<string, { done: number; total: number }> = {};
      for (const { hash, state } of versions) {
        if (state !== 'building') continue;
        const ofBuild = await lagOf(buildName({ name, hash }));
        progress[hash] = {
          done: sum(ofBuild.map(({ offset = 0 }) => offset)),
          total: sum(ofBuild.map(({ offset = 0, head = 0 }) => Math.max(offset, head))),
        };
        if (!(await isComplete(name, hash, ofBuild, ofRepair))) continue;
        builds.delete(hash);
        delete progress[hash];
        if (await setIndexState(topologyTable, { datastore, name }, hash, 'building', 'live'))
          report({ datastore, kind: 'live', index: name, hash });
        await shares.countSoon();
        context.topology.refresh();
      }
      if (Object.keys(progress).length > 0) written.delete(name);
      else if (written.get(name) === lag) continue;
      await writeIndexProgress(
        topologyTable,
        { datastore, name },
        { builds: progress, lag, at: new Date().toISOString() },
      );
      if (Object.keys(progress).length === 0) written.set(name, lag);
    }
  };
}

/** Returns the ends of all logs; undefined if a writer cannot be asked, since a reader may be behind. */
async function endsOf({ topology, groups }: StoreContext, datastore: string): Promise<readonly number[] | undefined> {
  const all = await requireDatastore(topology, datastore);
  try {
    const ends = await Promise.all(
      [...shardsByGroup(all)].map(async ([group, shards]) =>
        writerHeads(await groups.client(group), datastore, shards),
      ),
    );
    const heads = new Map(ends.flat());
    return all.homes.map((_, shard) => heads.get(shard) ?? 0);
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    return undefined;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
