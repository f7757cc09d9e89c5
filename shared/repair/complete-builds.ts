import { followerLag, type ShardLag } from '../follow/follower-lag.ts';
import { writeIndexProgress } from '../topology/index-progress.ts';
import { setIndexState } from '../topology/index-catalogue.ts';
import { buildName } from './build-follower.ts';
import type { LargestShares } from './largest-share.ts';
import { REPAIR_FOLLOWER } from './repair-follower.ts';
import type { RepairWork } from './repair-work.ts';

/** How long the ends of the logs, once looked up, are worth reaching. */
const TARGETS_MS = 10_000;
/** Progress is written less often while nothing is being built. */
const IDLE_LOOKS = 5;

interface Build {
  readonly seenAt: number;
  /** By shard: the added id to come to. */
  targets: readonly number[] | undefined;
  takenAt: number;
}

/**
 * Watches the builds of a datastore: makes a version live once it is complete, and writes how far all is.
 *
 * A build is complete when it has passed the ends of all logs, taken after it began. Nothing is missed then:
 *
 * - Cells up to a log's end were read by the build, and their rows' entries written after that.
 * - Cells behind it are the repair's: it looks up which versions are maintained after it has read the cells, in a
 *   catalogue that is at most `versionsAgeMs` old. The ends were taken twice as long after this version was seen in the
 *   catalogue, so that whoever has read a cell behind them finds it there, even a run that is about to end.
 * - Where the end of a log was asked of a reader that lags, the repair may have been further: the ends are never before
 *   its offsets, which are as old as their last commit. And it must have an offset for each shard, since a repair that is new begins at the ends of the logs.
 *
 * @returns a look, to be repeated
 */
export function watchBuilds(work: RepairWork, shares: LargestShares): () => Promise<void> {
  const { context, stateTable, topologyTable, datastore, settings, report } = work;
  const builds = new Map<string, Build>();
  let looks = 0;

  const lagOf = (name: string): Promise<readonly ShardLag[]> => followerLag(stateTable, context, { name, datastore });

  /** Whether the build is past its targets. Sets them anew where they are old, or there are none. */
  function isComplete(build: Build, ofBuild: readonly ShardLag[], ofRepair: readonly ShardLag[]): boolean {
    const { targets } = build;
    if (targets && ofBuild.every(({ offset = -1 }, shard) => offset >= (targets[shard] ?? 0))) return true;
    const now = performance.now();
    if (targets && now - build.takenAt < TARGETS_MS) return false;
    const known = ofBuild.every(({ head }) => head !== undefined) && ofRepair.every(({ offset }) => offset !== undefined);
    build.targets = known && now - build.seenAt >= 2 * settings.versionsAgeMs + settings.commitEveryMs ? ofBuild.map(({ head = 0 }, shard) => Math.max(head, ofRepair[shard]?.offset ?? 0)) : undefined;
    build.takenAt = now;
    return false;
  }

  return async () => {
    const catalogues = await work.indexes.catalogues(datastore);
    const isBuilding = catalogues.some(({ versions }) => versions.some(({ state }) => state === 'building'));
    looks += 1;
    if (!isBuilding && looks % IDLE_LOOKS !== 1) return;
    const ofRepair = await lagOf(REPAIR_FOLLOWER);
    const lag = sum(ofRepair.map(({ offset = 0, head = 0 }) => Math.max(0, head - offset)));
    if (catalogues.length > 0) report({ datastore, kind: 'lag', cells: lag });
    for (const { name, versions } of catalogues) {
      const progress: Record<string, { done: number; total: number }> = {};
      for (const { hash, state } of versions) {
        if (state !== 'building') continue;
        const ofBuild = await lagOf(buildName({ name, hash }));
        progress[hash] = { done: sum(ofBuild.map(({ offset = 0 }) => offset)), total: sum(ofBuild.map(({ offset = 0, head = 0 }) => Math.max(offset, head))) };
        const build = builds.get(hash) ?? { seenAt: performance.now(), targets: undefined, takenAt: 0 };
        builds.set(hash, build);
        if (!isComplete(build, ofBuild, ofRepair)) continue;
        builds.delete(hash);
        delete progress[hash];
        if (await setIndexState(topologyTable, { datastore, name }, hash, 'building', 'live')) report({ datastore, kind: 'live', index: name, hash });
        await shares.countSoon();
        context.topology.refresh();
      }
      await writeIndexProgress(topologyTable, datastore, name, { builds: progress, lag, largest_share: await shares.of(name), at: new Date().toISOString() });
    }
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
