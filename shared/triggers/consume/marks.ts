import type { TriggerMessage } from '../state/message.ts';
import type { TriggerStore } from '../state/trigger-store.ts';
import type { ShardView } from './shard-views.ts';

export interface MarkSettings {
  /** A message that was sent so long ago tells that its shard is behind. */
  readonly lateMs: number;
  /** One that was sent less long ago tells that it keeps up again. */
  readonly keepsUpMs: number;
  /** A shard that is behind is marked this often at most. */
  readonly markEveryMs: number;
}

/** A message, with what is known of its shard. */
interface MarkedMessage {
  readonly message: TriggerMessage;
  /** Milliseconds since 1970. */
  readonly sentAt: number;
  readonly view: ShardView;
}

/**
 * Says how far shards are whose consumer fails or is behind, so that no more than a little is sent past that. Marks are
 * best effort: without one more is sent, a stale one is passed in time.
 */
export interface Marks {
  begin(marked: MarkedMessage): Promise<void>;
  /** When a cell has failed for the first time: the store has marked its shard. */
  failed(marked: MarkedMessage): void;
  /** When a message is done: whether its shard keeps up again, so that the mark is to be taken away. */
  isUpAgain(marked: MarkedMessage): boolean;
  /** Takes the mark away, where nothing else of the shard is changed. */
  clear(marked: MarkedMessage): Promise<void>;
}

/** @param failed is told when a mark cannot be written */
export function marks(
  store: Pick<TriggerStore, 'mark'>,
  { lateMs, keepsUpMs, markEveryMs }: MarkSettings,
  failed: (error: unknown) => void,
): Marks {
  const markedAt = new Map<number, number>();

  function remember({ message: { shard }, view }: MarkedMessage): void {
    markedAt.set(shard, performance.now());
    view.hasMark = true;
  }

  return {
    async begin(marked) {
      const age = Date.now() - marked.sentAt;
      const { shard, added_id } = marked.message;
      // A mark that is there has to move on, also while the shard is behind by little: else what was sent past it would
      // be consumed, and nothing would follow.
      const isBehind = age >= lateMs || (marked.view.hasMark && age >= keepsUpMs);
      if (!isBehind || performance.now() - (markedAt.get(shard) ?? -Infinity) < markEveryMs) return;
      remember(marked);
      await store.mark(shard, added_id).catch(failed);
    },
    failed: remember,
    isUpAgain({ message: { shard, added_id }, sentAt, view }) {
      if (!view.hasMark || Date.now() - sentAt >= keepsUpMs) return false;
      // One before this cell has left the queue in some other way, since a group is consumed in order.
      if ([...view.cells.values()].some((cell) => cell.parked_at === undefined && cell.message.added_id > added_id))
        return false;
      view.hasMark = false;
      markedAt.delete(shard);
      return true;
    },
    clear: ({ message: { shard } }) => store.mark(shard, undefined).catch(failed),
  };
}
