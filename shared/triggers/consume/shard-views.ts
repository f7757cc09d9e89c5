import type { TriggerMessage } from '../state/message.ts';
import type { FailingCell, TriggerStore } from '../state/trigger-store.ts';
import type { QueueRecord } from './queue-record.ts';

/** What is known, while a batch is consumed, of a shard that may not be in order. */
export interface ShardView {
  /** By added id. */
  readonly cells: Map<number, FailingCell>;
  hasMark: boolean;
  /**
   * How often cells up to this one failed that are not parked, as it was before the batch. With each failure those
   * behind the cell went back to the queue with it: so many of a message's receipts are known to have been answered.
   */
  readonly failuresUpTo: (addedId: number) => number;
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
        failuresUpTo: (addedId) => failures(cells, addedId),
      });
    }
  }

  return async (shard) => {
    if (doubtful.has(shard)) await (reading ??= read());
    const view = views.get(shard) ?? { cells: new Map(), hasMark: false, failuresUpTo: () => 0 };
    views.set(shard, view);
    return view;
  };
}

/**
 * Whether each time that a message was received before was answered, as far as is known: its cell failed, or one before
 * it. Where not, its function may have ended the process.
 */
export function isAnswered(
  { receipts }: Pick<QueueRecord, 'receipts'>,
  { added_id }: Pick<TriggerMessage, 'added_id'>,
  view: ShardView,
): boolean {
  return receipts - 1 <= view.failuresUpTo(added_id);
}

function failures(cells: readonly FailingCell[], upTo: number): number {
  return cells
    .filter(({ message, parked_at }) => message.added_id <= upTo && parked_at === undefined)
    .reduce((sum, { attempts }) => sum + attempts, 0);
}
