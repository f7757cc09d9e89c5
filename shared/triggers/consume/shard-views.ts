import type { FailingCell, TriggerStore } from '../state/trigger-store.ts';

/** What is known, while a batch is consumed, of a shard that may not be in order. */
export interface ShardView {
  /** By added id. */
  readonly cells: Map<number, FailingCell>;
  hasMark: boolean;
}

/** The views of a batch's shards. Throws what the state table throws. */
export type ShardViews = (shard: number) => Promise<ShardView>;

/**
 * @param doubtful the shards whose items are read, all at once when one of them is asked for, and once only; all others
 * are taken to be in order
 */
export function shardViews(store: Pick<TriggerStore, 'shards'>, doubtful: ReadonlySet<number>): ShardViews {
  const views = new Map<number, ShardView>();
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    for (const { shard, cells, mark } of await store.shards([...doubtful])) {
      views.set(shard, {
        cells: new Map(cells.map((cell) => [cell.message.added_id, cell])),
        hasMark: mark !== undefined,
      });
    }
  }

  return async (shard) => {
    if (doubtful.has(shard)) await (reading ??= read());
    const view = views.get(shard) ?? { cells: new Map(), hasMark: false };
    views.set(shard, view);
    return view;
  };
}
