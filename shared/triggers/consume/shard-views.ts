import type { TriggerMessage, FailingCell } from '../state/trigger-store.ts';
import type { TriggerStore } from '../state/dynamo-trigger-store.ts';
import { NO_ANSWER } from '../state/failing-cells.ts';
import { blockOf } from '../state/trigger-items.ts';
import { isRetry, type QueueRecord } from './queue-record.ts';

/** The state of a shard that may not be in order, as a batch sees it. */
export interface ShardView {
  /** By added id. */
  readonly cells: Map<number, FailingCell>;
  hasMark: boolean;
  /** How many failures of unparked cells up to this one explain a message's receipts, before the batch. */
  readonly failuresUpTo: (addedId: number) => number;
}

export type ShardViews = (shard: number) => Promise<ShardView>;

/** @param doubtful shards whose items are read, once and in one batch; all others are taken to be in order */
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

/** Shards of blocks that are not all in order, and those with messages that were received before, or are retries. */
export function doubtfulShards(
  records: readonly QueueRecord[],
  messageOf: (record: QueueRecord) => TriggerMessage | undefined,
  troubledBlocks: readonly number[],
): Set<number> {
  const known = new Set(troubledBlocks);
  return new Set(
    records.flatMap((record) => {
      const shard = messageOf(record)?.shard;
      return shard !== undefined && (known.has(blockOf(shard)) || record.receipts >= 2 || isRetry(record))
        ? [shard]
        : [];
    }),
  );
}

/** Whether failures explain every receipt of a message. If not, its function may have ended the process. */
export function isAnswered(
  { receipts }: Pick<QueueRecord, 'receipts'>,
  { added_id }: Pick<TriggerMessage, 'added_id'>,
  view: ShardView,
): boolean {
  return receipts - 1 <= view.failuresUpTo(added_id);
}

/** Whether a call for a cell began and never answered: it may have ended its process. */
export function mayEndProcess({ added_id }: Pick<TriggerMessage, 'added_id'>, view: ShardView): boolean {
  const cell = view.cells.get(added_id);
  return cell?.last_error === NO_ANSWER && cell.parked_at === undefined;
}

function failures(cells: readonly FailingCell[], upTo: number): number {
  return cells
    .filter(({ message, parked_at }) => message.added_id <= upTo && parked_at === undefined)
    .reduce((sum, { attempts }) => sum + attempts, 0);
}
