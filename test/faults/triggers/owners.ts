import { offsetItems } from '../../../shared/follow/offset-items.ts';
import { triggerFollower } from '../../../shared/triggers/state/follower-name.ts';
import type { Scene } from '../triggers/scene.ts';

/**
 * How many partitions each worker that holds any holds, the most first. Undefined when DynamoDB has too much to do to
 * say it.
 */
export async function holdings(
  scene: Scene,
  shards: number,
  partitions: number,
): Promise<readonly number[] | undefined> {
  const { datastore, trigger } = scene.access;
  const items = offsetItems(scene.store.stateTable, { name: triggerFollower(trigger), datastore, shards, partitions });
  const counts = new Map<string, number>();
  try {
    for (let partition = 0; partition < partitions; partition += 1) {
      const owner = (await items.read(partition))?.owner ?? '';
      if (owner !== '') counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
  } catch {
    return undefined;
  }
  return [...counts.values()].sort((one, other) => other - one);
}

/** Whether every partition is held, by so many workers, each by its fair share. */
export function isSpread(held: readonly number[] | undefined, workers: number, partitions: number): boolean {
  if (!held) return false;
  const sum = held.reduce((all, count) => all + count, 0);
  return sum === partitions && held.length === workers && (held[0] ?? 0) - (held.at(-1) ?? 0) <= 1;
}

type Spread = Readonly<Record<'workers' | 'shards' | 'partitions' | 'mostSeconds', number>>;

/** How long it takes until they are spread; undefined where it takes longer than that. */
export async function secondsUntilSpread(
  scene: Scene,
  { workers, shards, partitions, mostSeconds }: Spread,
): Promise<number | undefined> {
  const start = performance.now();
  const isSo = async (): Promise<boolean> => isSpread(await holdings(scene, shards, partitions), workers, partitions);
  try {
    await scene.until(`${workers} workers hold ${partitions} partitions`, isSo, mostSeconds * 1000);
    return (performance.now() - start) / 1000;
  } catch {
    return undefined;
  }
}
