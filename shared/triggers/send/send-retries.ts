import { CLOCKS_DIFFER_MS } from '../state/queue-limits.ts';
import { encodeMessage, retryDeduplicationId, retryGroupId } from '../state/queue-message.ts';
import { isAtWork, type FailingCell } from '../state/trigger-store.ts';
import type { QueueMessage } from '../state/queues.ts';
import type { TailSettings, TailWork } from './tail-work.ts';
import type { TriggerWatch } from './watch-trigger.ts';
import { slicesOf } from '../../slices-of.ts';

/** Cells taken and not sent: those of a worker that dies wait for `lostRetryMs`. */
const MOST_TAKEN = 100;
const MESSAGES_A_REQUEST = 10;

/** Sends parked cells whose retry is requested or due, of held shards of a running trigger, each taken first. */
export function retrySender(
  work: TailWork,
  watch: Pick<TriggerWatch, 'status' | 'troubled' | 'poll'>,
): () => Promise<void> {
  let taken: QueueMessage[] = [];
  return async () => {
    const status = watch.status();
    if (!status || !isAtWork(status)) return;
    taken = await takeDue(work, watch, taken);
    const left = await sendTaken(work, taken);
    if (taken.length > left.length) work.report({ kind: 'retried', cells: taken.length - left.length });
    taken = left;
  };
}

async function takeDue(
  { store, settings, deployed }: TailWork,
  watch: Pick<TriggerWatch, 'troubled' | 'poll'>,
  before: readonly QueueMessage[],
): Promise<QueueMessage[]> {
  const taken = [...before];
  const now = Date.now();
  const due = watch
    .troubled()
    .flatMap(({ cells }) => cells.filter((cell) => isDue(cell, now, settings, deployed.definition.retryParkedEveryMs)));
  for (const cell of due.slice(0, Math.max(0, MOST_TAKEN - taken.length))) {
    if (await store.takeRetry(cell)) taken.push(toRetry(cell));
  }
  // Taken cells must not be taken again.
  if (due.length > 0) await watch.poll();
  return taken;
}

function isDue(
  { parked_at, retried_at, retry }: FailingCell,
  now: number,
  { lostRetryMs }: TailSettings,
  everyMs: number | undefined,
): boolean {
  if (parked_at === undefined) return false;
  if (retry === 'wanted') return true;
  const age = now - Date.parse(retried_at ?? parked_at);
  // A clock that was ahead wrote this: the cell must not wait until this clock has caught up.
  if (age < -CLOCKS_DIFFER_MS) return everyMs !== undefined || retry === 'sent';
  return age >= (everyMs ?? Number.POSITIVE_INFINITY) || (retry === 'sent' && age >= lostRetryMs);
}

function toRetry(cell: FailingCell): QueueMessage {
  const { message, round } = cell;
  return {
    body: encodeMessage({ ...message, replay: true }),
    groupId: retryGroupId(message.shard),
    deduplicationId: retryDeduplicationId(cell, round + 1),
  };
}

/** Returns what the queue did not take. */
async function sendTaken(
  { queues, deployed, report }: TailWork,
  messages: readonly QueueMessage[],
): Promise<QueueMessage[]> {
  const left: QueueMessage[] = [];
  for (const some of slicesOf(messages, MESSAGES_A_REQUEST)) {
    const failures = await queues.send(deployed.queueUrl, some).catch((error: unknown) => some.map(() => error));
    const failure = failures.find((error) => error !== undefined);
    if (failure !== undefined) report({ kind: 'send_failed', error: failure });
    left.push(...some.filter((_, item) => failures[item] !== undefined));
  }
  return left;
}
