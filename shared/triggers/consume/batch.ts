import type { TriggerMessage } from '../state/message.ts';
import { isUnsound } from '../state/queue-limits.ts';
import { isAtWork, type TriggerStatus } from '../state/trigger-store.ts';
import { reasonOf } from './call-function.ts';
import { consumeMessage, type MessageEnd } from './consume-message.ts';
import type { Consumer, ReturnReason } from './consumer.ts';
import { holdMessages } from './hold.ts';
import { isRetry, type QueueRecord } from './queue-record.ts';
import { readRecord } from './read-record.ts';
import { shardViews, type ShardViews } from './shard-views.ts';

export interface BatchLimits {
  /** How much time is left for the batch, in milliseconds. @default unlimited */
  readonly remainingMs?: () => number;
  /** Aborted when the process is to end: the call under way is waited for, the rest goes back. @default never */
  readonly stopping?: AbortSignal;
}

/** `back`: it goes back to the queue, and with it those behind it in its group. */
export type RecordEnd = 'done' | 'back';

export interface Batch {
  /** Consumes one of the batch's messages; to be called for each, in order, one after the other. Never throws. */
  consume(record: QueueRecord): Promise<RecordEnd>;
  /** Has to be called once all are consumed. */
  end(): Promise<void>;
}

/** Why a message goes back, and for how long it is hidden. */
interface Return {
  readonly reason: ReturnReason;
  readonly seconds: number;
}

/** Messages that were received together: see `consumeBatch`. */
export function openBatch(consumer: Consumer, records: readonly QueueRecord[], limits: BatchLimits): Batch {
  const { settings, definition, store, report } = consumer;
  const hold = holdMessages(consumer.queue, records, settings, (error) => report({ kind: 'queue_away', error }));
  const readings = new Map(records.map((record) => [record, readRecord(record, consumer.datastore, definition.name)]));
  const back = new Set<QueueRecord>();
  let views: ShardViews | undefined;
  let isHalted = false;
  let hasCalled = false;

  const notRunning = ({ receipts }: QueueRecord): Return => ({
    reason: 'not_running',
    seconds: Math.min(settings.longestPauseSeconds, 2 ** receipts),
  });
  const failed = (attempts: number): Return => ({
    reason: 'failed',
    seconds: Math.min(settings.longestBackoffSeconds, 2 ** (attempts - 1)),
  });

  async function giveBack(record: QueueRecord, { reason, seconds }: Return): Promise<RecordEnd> {
    const rest = records.slice(records.indexOf(record)).filter(({ groupId }) => groupId === record.groupId);
    for (const one of rest) back.add(one);
    report({ kind: 'returned', messages: rest.length, reason, seconds });
    await hold.release(rest, seconds);
    return 'back';
  }

  /**
   * For no fault of its own. A retry is wished for anew instead, so that one received twice is one that did not answer.
   */
  async function leave(record: QueueRecord, why: Return): Promise<RecordEnd> {
    const message = readings.get(record)?.message;
    if (!message || !isRetry(record)) return giveBack(record, why);
    await store.wantRetry([{ shard: message.shard, added_id: message.added_id }]);
    return 'done';
  }

  /** What of a batch can be done only once the trigger is known to run. */
  async function viewsOnce(): Promise<{ readonly viewOf: ShardViews; readonly least: number } | undefined> {
    const status = await consumer.status.read();
    if (isHalted || !isAtWork(status)) return undefined;
    if (isUnsound(status, settings.safeHaltMs)) {
      await wantResend(status);
      return undefined;
    }
    views ??= shardViews(store, doubtfulShards(records, readings, status.troubled));
    return { viewOf: views, least: status.least_generation ?? 0 };
  }

  /**
   * Messages before these may have gone to the last queue, or have expired: nothing is consumed until they were sent
   * again.
   */
  async function wantResend(seen: TriggerStatus): Promise<void> {
    isHalted = true;
    await store.wantResend({
      why: `its messages were not consumed for longer than is safe, since ${seen.sound_at}`,
      seen,
    });
    consumer.status.forget();
  }

  async function parkMalformed({ messageId, body }: QueueRecord, error: unknown): Promise<RecordEnd> {
    const reason = reasonOf(error);
    await store.parkMalformed({ message_id: messageId, body, error: reason });
    report({ kind: 'malformed', message_id: messageId, error: reason });
    return 'done';
  }

  async function consumeCell(
    record: QueueRecord,
    message: TriggerMessage,
    view: Awaited<ReturnType<ShardViews>>,
  ): Promise<RecordEnd> {
    const limitMs = definition.timeoutSeconds * 1000;
    const leftMs = (limits.remainingMs?.() ?? Infinity) - settings.marginMs;
    // The first call of a batch has all the time that there ever is.
    if (leftMs < limitMs && hasCalled) return leave(record, { reason: 'no_time', seconds: 0 });
    hasCalled = true;
    const end: MessageEnd = await consumeMessage(consumer, {
      record,
      message,
      view,
      timeoutMs: Math.max(0, Math.min(limitMs, leftMs)),
    });
    if (end.kind === 'failed') return giveBack(record, failed(end.attempts));
    if (end.kind === 'done') return 'done';
    isHalted = true;
    consumer.status.forget();
    return end.kind === 'stopped' ? 'done' : giveBack(record, notRunning(record));
  }

  async function consume(record: QueueRecord): Promise<RecordEnd> {
    if (back.has(record)) return 'back';
    if (limits.stopping?.aborted === true) return leave(record, { reason: 'stopping', seconds: 0 });
    const known = await viewsOnce();
    if (!known) return leave(record, notRunning(record));
    const { message, error } = readings.get(record) ?? readRecord(record, consumer.datastore, definition.name);
    if (!message) return parkMalformed(record, error);
    if (isRetry(record)) return consumeCell(record, message, await known.viewOf(message.shard));
    if (message.generation !== undefined && message.generation < known.least) {
      report({ kind: 'void', message });
      return 'done';
    }
    const end = await consumeCell(record, message, await known.viewOf(message.shard));
    if (end === 'done') consumer.notes.note(message);
    return end;
  }

  return {
    async consume(record) {
      try {
        return await consume(record);
      } catch (error) {
        report({ kind: 'state_away', error });
        return giveBack(record, { ...failed(record.receipts), reason: 'state_away' });
      }
    },
    async end() {
      await Promise.all([hold.end(), consumer.notes.keep()]);
    },
  };
}

/** Those that are not in order, and those whose messages were received before, or are retries. */
function doubtfulShards(
  records: readonly QueueRecord[],
  readings: ReadonlyMap<QueueRecord, ReturnType<typeof readRecord>>,
  troubled: readonly number[],
): Set<number> {
  const known = new Set(troubled);
  return new Set(
    records.flatMap((record) => {
      const shard = readings.get(record)?.message?.shard;
      return shard !== undefined && (known.has(shard) || record.receipts >= 2 || isRetry(record)) ? [shard] : [];
    }),
  );
}
