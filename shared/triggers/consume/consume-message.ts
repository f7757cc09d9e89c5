import { NO_ANSWER } from '../state/failing-cells.ts';
import type { TriggerMessage, FailingCell } from '../state/trigger-store.ts';
import { endOfCall, type CallEnd } from './call-function.ts';
import type { Consumer } from './consumer.ts';
import { describeFailure } from './describe-failure.ts';
import { isPermanent } from './permanent-failure.ts';
import { isRetry, type QueueRecord } from './queue-record.ts';
import { isAnswered, type ShardView } from './shard-views.ts';

interface MessageInHand {
  readonly record: QueueRecord;
  readonly message: TriggerMessage;
  readonly view: ShardView;
  readonly timeoutMs: number;
  /** How the first attempt ended, if it was made ahead of its turn. */
  readonly ahead?: CallEnd | undefined;
}

/**
 * `stopped`: the cell is parked and stopped the trigger; `not_running`: the trigger was stopped before, the message
 * goes back.
 */
export type MessageEnd =
  | { readonly kind: 'done' | 'stopped' | 'not_running' }
  | { readonly kind: 'failed'; readonly attempts: number };

const DONE: MessageEnd = { kind: 'done' };

/** Consumes one message: calls the function unless done or out of attempts. Throws the state table's errors. */
export async function consumeMessage(consumer: Consumer, hand: MessageInHand): Promise<MessageEnd> {
  const { record, message, view } = hand;
  const kept = view.cells.get(message.added_id);
  // Another cell had this added id before the log was cut: one of the two is no cell any more.
  const isOther = kept !== undefined && !isSameCell(kept.message, message);
  if (isOther && isLater(kept.message, message)) return repeated(consumer, message);
  if (isOther) await forget(consumer, hand);
  const cell = view.cells.get(message.added_id);
  const isParked = cell?.parked_at !== undefined;
  // The cell of a retry that is not parked any more has been done, or discarded.
  if (isParked ? !message.replay : isRetry(record)) return repeated(consumer, message);
  return isParked ? tryParked(consumer, hand, cell) : tryCell(consumer, hand, cell);
}

async function tryCell(consumer: Consumer, hand: MessageInHand, known: FailingCell | undefined): Promise<MessageEnd> {
  const { record, message, view } = hand;
  const { store, definition, marks } = consumer;
  const marked = { message, sentAt: record.sentAt, view };
  await marks.begin(marked);
  const hadAll = (attempts: number): boolean => record.receipts >= 2 && attempts >= definition.maxAttempts;
  if (hadAll(known?.attempts ?? 0)) return park(consumer, hand, neverAnswered(known));
  // Received before without an answer: it may end its process, and then nothing can be counted afterwards. Counting
  // takes
  // six requests to the state table, so it is not done for each message that went back behind another one.
  const isCounted = !isAnswered(record, message, view);
  const before = isCounted ? await store.begin(message) : (known?.attempts ?? 0);
  if (hadAll(before)) return park(consumer, hand, neverAnswered(known));

  const failure = await failureOf(consumer, hand, before + 1);
  if (failure === null) {
    const keepsUp = marks.isUpAgain(marked);
    if (isCounted || known !== undefined) await forget(consumer, hand, { keepsUp });
    else if (keepsUp) await marks.clear(marked);
    return DONE;
  }
  const { error, stack } = describeFailure(failure.thrown);
  const attempts = await store.failed(message, error, isCounted, { marks: true });
  consumer.report({ kind: 'failed', message, attempts, error, stack });
  if (attempts === 1) marks.failed(marked);
  return isPermanent(failure.thrown) || attempts >= definition.maxAttempts
    ? park(consumer, hand, error)
    : { kind: 'failed', attempts };
}

async function tryParked(consumer: Consumer, hand: MessageInHand, cell: FailingCell): Promise<MessageEnd> {
  const { record, message } = hand;
  // A retry never goes back to the queue; a message after a rewind does with its group.
  const most = isRetry(record) ? 1 : consumer.definition.maxAttempts;
  const failure = record.receipts > most ? { thrown: NO_ANSWER } : await failureOf(consumer, hand, cell.attempts + 1);
  if (failure === null) {
    await forget(consumer, hand);
    return DONE;
  }
  const { error, stack } = describeFailure(failure.thrown);
  await consumer.store.retryFailed(message, error);
  consumer.report({ kind: 'retry_failed', message, error, stack });
  return DONE;
}

function repeated({ report }: Consumer, message: TriggerMessage): MessageEnd {
  report({ kind: 'repeated', message });
  return DONE;
}

async function forget(
  { store }: Consumer,
  { message, view }: MessageInHand,
  also?: { readonly keepsUp: boolean },
): Promise<void> {
  await store.succeeded(message, also);
  view.cells.delete(message.added_id);
}

/** Whether a cell took its added id after another one. A cut raises the generation; only within one do times tell. */
function isLater(one: TriggerMessage, other: TriggerMessage): boolean {
  return one.generation === other.generation ? one.created_at > other.created_at : one.generation > other.generation;
}

function isSameCell(a: TriggerMessage, b: TriggerMessage): boolean {
  return (
    a.row_key === b.row_key &&
    a.column_name === b.column_name &&
    a.ref_key === b.ref_key &&
    a.created_at === b.created_at
  );
}

async function failureOf(
  { fn, client, report }: Consumer,
  { message, timeoutMs, ahead }: MessageInHand,
  attempt: number,
): Promise<CallEnd['failure']> {
  const { failure } = ahead ?? (await endOfCall({ fn, client, message, attempt, timeoutMs }));
  if (failure === null) report({ kind: 'consumed', message, attempt });
  return failure;
}

async function park(consumer: Consumer, hand: MessageInHand, error: string): Promise<MessageEnd> {
  const { store, definition, report, marks } = consumer;
  const { record, message, view } = hand;
  const end = await store.park(message, error, definition.stopAfterParked);
  if (end === 'not_running') {
    // Resuming means that something was fixed: its attempts restart at 0, or it would be parked without a call.
    await forget(consumer, hand);
    return { kind: 'not_running' };
  }
  report({ kind: 'parked', message, error });
  if (end === 'parked_and_stopped') {
    report({ kind: 'stopped' });
    return { kind: 'stopped' };
  }
  const marked = { message, sentAt: record.sentAt, view };
  if (marks.isUpAgain(marked)) await marks.clear(marked);
  return DONE;
}

function neverAnswered(known: FailingCell | undefined): string {
  return known === undefined || known.last_error === NO_ANSWER
    ? NO_ANSWER
    : `${NO_ANSWER}; before that: ${known.last_error}`;
}
