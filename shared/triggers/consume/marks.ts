import type { TriggerMessage } from '../state/trigger-store.ts';
import type { TriggerStore } from '../state/dynamo-trigger-store.ts';
import type { ShardView } from './shard-views.ts';

export interface MarkSettings {
  /** A message sent so long ago shows that its shard is behind. */
  readonly lateMs: number;
  /** A younger message shows that its shard keeps up again. */
  readonly keepsUpMs: number;
  /** Between marks of a shard. */
  readonly markEveryMs: number;
}

interface MarkedMessage {
  readonly message: TriggerMessage;
  /** Milliseconds since 1970. */
  readonly sentAt: number;
  readonly view: ShardView;
}

export type Marks = ReturnType<typeof marks>;

export function marks(
  store: Pick<TriggerStore, 'mark'>,
  { lateMs, keepsUpMs, markEveryMs }: MarkSettings,
  failed: (error: unknown) => void,
) {
  const markedAt = new Map<number, number>();

  function remember({ message: { shard }, view }: MarkedMessage): void {
    markedAt.set(shard, performance.now());
    view.hasMark = true;
  }

  return {
    async begin(marked: MarkedMessage): Promise<void> {
      const age = Date.now() - marked.sentAt;
      const { shard, added_id } = marked.message;
      // An existing mark moves on while the shard is only a little behind: else nothing would follow what was sent past
      // it.
      const isBehind = age >= lateMs || (marked.view.hasMark && age >= keepsUpMs);
      if (!isBehind || performance.now() - (markedAt.get(shard) ?? -Infinity) < markEveryMs) return;
      remember(marked);
      await store.mark(shard, added_id).catch(failed);
    },
    /** Notes that the store has marked the shard, with a cell's first failure. */
    failed: remember,
    /** Returns, for a message that is done, whether its shard keeps up again and its mark must go. */
    isUpAgain({ message: { shard, added_id }, sentAt, view }: MarkedMessage): boolean {
      if (!view.hasMark || Date.now() - sentAt >= keepsUpMs) return false;
      // An earlier failing cell left the queue in some other way, since a group is consumed in order.
      if ([...view.cells.values()].some((cell) => cell.parked_at === undefined && cell.message.added_id > added_id))
        return false;
      view.hasMark = false;
      markedAt.delete(shard);
      return true;
    },
    /** Removes the mark if nothing else of the shard changes. */
    clear: ({ message: { shard } }: MarkedMessage): Promise<void> => store.mark(shard, undefined).catch(failed),
  };
}
