import type { Scene } from '../triggers/scene.ts';

/** The parked cells, as the operator lists them: `shard/added id`. */
export async function parkedCells(scene: Scene): Promise<ReadonlySet<string>> {
  return await scene.operate(async (operations, trigger) => {
    const parked = new Set<string>();
    for (let after: string | undefined; ;) {
      const { cells, next } = await operations.parkedCells(trigger, after === undefined ? {} : { after });
      for (const { shard, added_id } of cells) parked.add(`${shard}/${added_id}`);
      if (next === null) return parked;
      after = next;
    }
  });
}
