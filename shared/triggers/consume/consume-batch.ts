import { invalidField } from '../../errors.ts';
import { type TriggerMessage, isAtWork, type TriggerStatus } from '../state/trigger-store.ts';
import { isUnsound } from '../state/queue-limits.ts';
import { aheadCalls, type AheadCalls, type Callable, endOfCall } from './call-function.ts';
import { consumeMessage, type MessageEnd } from './consume-message.ts';
import type { Consumer, ReturnReason } from './consumer.ts';
import { reasonOf } from './describe-failure.ts';
import { holdMessages, type Hold } from './hold.ts';
import { isRetry, type QueueRecord } from './queue-record.ts';
import { parseMessage } from '../state/queue-message.ts';
import {
  doubtfulShards,
  isAnswered,
  mayEndProcess,
  shardViews,
  type ShardView,
  type ShardViews,
} from './shard-views.ts';

export interface BatchLimits {
  /** Milliseconds that are left for the batch. @default unlimited */
  readonly remainingMs?: () => number;
  /** Aborted when the process must end: the call under way finishes, the rest goes back. */
  readonly stopping?: AbortSignal;
}

/** `back`: it goes back to the queue with those behind it in its group. */
type RecordEnd = 'done' | 'back';

/** The message that a record carries, or why it carries none for this trigger. */
type ReadRecord =
  | { readonly message: TriggerMessage; readonly error?: undefined }
  | { readonly message?: undefined; readonly error: unknown };

interface Return {
  readonly reason: ReturnReason;
  readonly seconds: number;
}

interface Known {
  readonly viewOf: ShardViews;
  /** Messages of lower generations are void. */
  readonly least: number;
}

/**
 * Consumes messages of one batch, one after another, and returns those to be deleted. A message that fails
 * goes back to the queue with those behind it in its group; other groups go on. Never throws for what a message or the
 * function does, nor while the state table or the queue are unavailable.
 */
export async function consumeBatch(
  consumer: Consumer,
  records: readonly QueueRecord[],
  limits: BatchLimits = {},
): Promise<readonly QueueRecord[]> {
  const batch = new Batch(consumer, records, limits);
  try {
    const done: QueueRecord[] = [];
    for (const record of records) {
      if ((await batch.consume(record)) === 'done') done.push(record);
    }
    return done;
  } finally {
    await batch.end();
  }
}

class Batch {
  readonly #consumer: Consumer;
  readonly #records: readonly QueueRecord[];
  readonly #limits: BatchLimits;
  readonly #hold: Hold;
  readonly #readings: ReadonlyMap<QueueRecord, ReadRecord>;
  readonly #back = new Set<QueueRecord>();
  readonly #isolated = new Set<QueueRecord>();
  #known: Known | undefined;
  #isHalted = false;
  #hasCalled = false;
  readonly #ahead: AheadCalls;

  constructor(consumer: Consumer, records: readonly QueueRecord[], limits: BatchLimits) {
    const { queue, settings, report, atOnce, fn, client } = consumer;
    this.#consumer = consumer;
    this.#records = records;
    this.#limits = limits;
    this.#hold = holdMessages(queue, records, settings, (error) => report({ kind: 'queue_unavailable', error }));
    this.#readings = new Map(records.map((record) => [record, this.#read(record)]));
    this.#ahead = aheadCalls({
      atOnce,
      mayCall: (one) => this.#mayCallAhead(one),
      call: (message) => endOfCall({ fn, client, message, attempt: 1, timeoutMs: this.#timeOfCall() }),
    });
  }

  async consume(record: QueueRecord): Promise<RecordEnd> {
    const end = await this.#consumeOrGiveBack(record);
    // Calls that waited for this one may begin.
    if (this.#known && (await this.#ahead.endOf(record)) === undefined)
      await this.#callAhead(this.#records.slice(this.#records.indexOf(record) + 1), this.#known);
    return end;
  }

  async #consumeOrGiveBack(record: QueueRecord): Promise<RecordEnd> {
    try {
      return await this.#consume(record);
    } catch (error) {
      this.#consumer.report({ kind: 'state_unavailable', error });
      return this.#giveBack(record, { ...this.#failed(record.receipts), reason: 'state_unavailable' });
    }
  }

  async end(): Promise<void> {
    await this.#ahead.idle();
    await Promise.all([this.#hold.end(), this.#consumer.notes.keep()]);
  }

  async #consume(record: QueueRecord): Promise<RecordEnd> {
    if (this.#back.has(record)) return 'back';
    if (this.#isStopping() && !(await this.#ahead.endOf(record)))
      return this.#leave(record, { reason: 'stopping', seconds: 0 });
    const known = await this.#knownNow();
    if (this.#isolated.has(record)) return this.#back.has(record) ? 'back' : 'done';
    if (!known) return this.#leave(record, this.#notRunning(record));
    const { message, error } = this.#readings.get(record) ?? this.#read(record);
    if (!message) return this.#parkMalformed(record, error);
    const view = (): Promise<ShardView> => known.viewOf(message.shard);
    if (isRetry(record)) return this.#consumeCell(record, message, await view());
    if (message.generation < known.least) {
      this.#consumer.report({ kind: 'void', message });
      return 'done';
    }
    const end = await this.#consumeCell(record, message, await view());
    if (end === 'done') this.#consumer.notes.note(message);
    return end;
  }

  async #consumeCell(record: QueueRecord, message: TriggerMessage, view: ShardView): Promise<RecordEnd> {
    const ahead = await this.#ahead.endOf(record);
    // A call that ends the process would be counted against each cell in hand.
    if (!ahead) await this.#ahead.idle();
    if (!ahead && !this.#hasTime()) return this.#leave(record, { reason: 'no_time', seconds: 0 });
    await this.#hold.renew();
    const timeoutMs = this.#timeOfCall();
    const end: MessageEnd = await consumeMessage(this.#consumer, { record, message, view, timeoutMs, ahead });
    if (end.kind === 'failed') return this.#giveBack(record, this.#failed(end.attempts));
    if (end.kind === 'done') return 'done';
    this.#isHalted = true;
    this.#consumer.status.forget();
    return end.kind === 'stopped' ? 'done' : this.#giveBack(record, this.#notRunning(record));
  }

  /** Whether there is time for another call. The first call of a batch has all the time that there ever is. */
  #hasTime(): boolean {
    return !this.#hasCalled || this.#leftMs() >= this.#consumer.definition.timeoutSeconds * 1000;
  }

  #timeOfCall(): number {
    this.#hasCalled = true;
    return Math.max(0, Math.min(this.#consumer.definition.timeoutSeconds * 1000, this.#leftMs()));
  }

  #leftMs(): number {
    return (this.#limits.remainingMs?.() ?? Infinity) - this.#consumer.settings.marginMs;
  }

  /**
   * Calls the function in parallel, in each group up to the first cell that must be called in its turn. Such a cell
   * failed before, or may have ended its process. If it is the very first cell no call begins: that cell might find no
   * time left in any batch.
   */
  async #callAhead(records: readonly QueueRecord[], { viewOf, least }: Known): Promise<void> {
    if (this.#consumer.atOnce === 1) return;
    const waiting = new Set<string>();
    const callable: Callable[] = [];
    for (const record of records) {
      const message = this.#readings.get(record)?.message;
      if (!message || this.#back.has(record) || waiting.has(record.groupId) || message.generation < least) continue;
      // If the state table is unavailable, each message of the shard finds that in its turn.
      const view = await viewOf(message.shard).catch(() => undefined);
      const mayCall =
        view && !isRetry(record) && !view.cells.has(message.added_id) && isAnswered(record, message, view);
      if (mayCall) callable.push({ record, message });
      else if (record === records[0]) return;
      else waiting.add(record.groupId);
    }
    this.#ahead.begin(callable);
  }

  /**
   * Gives other groups back before a call that may end its process again: that would repeat theirs with each attempt.
   */
  async #isolate({ viewOf }: Known): Promise<void> {
    for (const record of this.#records) {
      const message = this.#readings.get(record)?.message;
      const view = message && (await viewOf(message.shard).catch(() => undefined));
      if (!view || !mayEndProcess(message, view)) continue;
      for (const other of this.#records.filter(({ groupId }) => groupId !== record.groupId)) {
        if (!this.#back.has(other)) await this.#leave(other, { reason: 'isolated', seconds: 0 });
        this.#isolated.add(other);
      }
      return;
    }
  }

  async #mayCallAhead({ record, message }: Callable): Promise<boolean> {
    const known = await this.#knownNow().catch(() => undefined);
    if (!known || message.generation < known.least) return false;
    await this.#hold.renew();
    if (this.#isStopping() || this.#back.has(record) || !this.#hasTime()) return false;
    this.#hasCalled = true;
    return true;
  }

  #isStopping(): boolean {
    return this.#limits.stopping?.aborted === true;
  }

  async #parkMalformed({ messageId, body }: QueueRecord, error: unknown): Promise<RecordEnd> {
    const { store, report } = this.#consumer;
    const reason = reasonOf(error);
    await store.parkMalformed({ message_id: messageId, body, error: reason });
    report({ kind: 'malformed', message_id: messageId, error: reason });
    return 'done';
  }

  /** Returns what is known of the trigger and the batch's shards; undefined if it does not run. */
  async #knownNow(): Promise<Known | undefined> {
    const { status: known, settings, store } = this.#consumer;
    const status = await known.read();
    if (this.#isHalted || !isAtWork(status)) return undefined;
    if (isUnsound(status, settings.safeHaltMs)) {
      await this.#wantResend(status);
      return undefined;
    }
    const least = status.least_generation ?? 0;
    if (this.#known) return (this.#known = { ...this.#known, least });
    const viewOf = shardViews(
      store,
      doubtfulShards(this.#records, (record) => this.#readings.get(record)?.message, status.troubled_blocks),
    );
    this.#known = { viewOf, least };
    await this.#isolate(this.#known);
    await this.#callAhead(this.#records, this.#known);
    return this.#known;
  }

  /** Earlier messages may have expired or gone to the last queue: nothing is consumed until they were sent again. */
  async #wantResend(seen: TriggerStatus): Promise<void> {
    const { store, status } = this.#consumer;
    this.#isHalted = true;
    await store.wantResend({
      why: `its messages were not consumed for longer than is safe, since ${seen.sound_at}`,
      seen,
    });
    status.forget();
  }

  /** Leaves a message uncalled. A retry is requested again: one received twice is one that did not answer. */
  async #leave(record: QueueRecord, why: Return): Promise<RecordEnd> {
    const message = this.#readings.get(record)?.message;
    if (!message || !isRetry(record)) return this.#giveBack(record, why);
    await this.#consumer.store.wantRetry([{ shard: message.shard, added_id: message.added_id }]);
    return 'done';
  }

  async #giveBack(record: QueueRecord, { reason, seconds }: Return): Promise<RecordEnd> {
    const rest = this.#behind(record);
    for (const one of rest) this.#back.add(one);
    // No other consumer may get a message whose call goes on.
    await Promise.all(rest.map((one) => this.#ahead.endOf(one)));
    this.#consumer.report({ kind: 'returned', messages: rest.length, reason, seconds });
    await this.#hold.release(rest, seconds);
    return 'back';
  }

  #behind(record: QueueRecord): readonly QueueRecord[] {
    return this.#records.slice(this.#records.indexOf(record)).filter(({ groupId }) => groupId === record.groupId);
  }

  #notRunning({ receipts }: QueueRecord): Return {
    return { reason: 'not_running', seconds: Math.min(this.#consumer.settings.longestPauseSeconds, 2 ** receipts) };
  }

  #failed(attempts: number): Return {
    const { longestBackoffSeconds } = this.#consumer.settings;
    return { reason: 'failed', seconds: Math.min(longestBackoffSeconds, 2 ** (attempts - 1)) };
  }

  #read({ body }: QueueRecord): ReadRecord {
    const { datastore, definition } = this.#consumer;
    try {
      const message = parseMessage(body);
      if (message.datastore !== datastore) throw invalidField('datastore', datastore, message.datastore);
      if (message.trigger !== definition.name) throw invalidField('trigger', definition.name, message.trigger);
      return { message };
    } catch (error) {
      return { error };
    }
  }
}
