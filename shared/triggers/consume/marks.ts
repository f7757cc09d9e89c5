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
export interface MarkedMessage {
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
  /** Before a message is consumed. */
  begin(marked: MarkedMessage): Promise<void>;
  /** When a cell has failed for the first time. */
  failed(marked: MarkedMessage): Promise<void>;
  /** When a message is done. */
  done(marked: MarkedMessage): Promise<void>;
}

/** @param failed is told when a mark cannot be written */
export function marks(
  store: Pick<TriggerStore, 'mark'>,
  { lateMs, keepsUpMs, markEveryMs }: MarkSettings,
  failed: (error: unknown) => void,
): Marks {
  const markedAt = new Map<number, number>();

  async function mark({ message: { shard, added_id }, view }: MarkedMessage): Promise<void> {
    markedAt.set(shard, performance.now());
    view.hasMark = true;
    await store.mark(shard, added_id).catch(failed);
  }

  return {
    async begin(marked) {
      const age = Date.now() - marked.sentAt;
      // A mark that is there has to move on, also while the shard is behind by little: else what was sent past it would
      // be consumed, and nothing would follow.
      const isBehind = age >= lateMs || (marked.view.hasMark && age >= keepsUpMs);
      if (isBehind && performance.now() - (markedAt.get(marked.message.shard) ?? -Infinity) >= markEveryMs)
        await mark(marked);
    },
    failed: mark,
    async done({ message: { shard, added_id }, sentAt, view }) {
      if (!view.hasMark || Date.now() - sentAt >= keepsUpMs) return;
      // One before this cell has left the queue in some other way, since a group is consumed in order.
      if ([...view.cells.values()].some((cell) => cell.parked_at === undefined && cell.message.added_id > added_id))
        return;
      view.hasMark = false;
      markedAt.delete(shard);
      await store.mark(shard, undefined).catch(failed);
    },
  };
}
