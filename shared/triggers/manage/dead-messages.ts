import { LIMITS } from '../../cell.ts';
import type { ManagedTrigger } from './managed-trigger.ts';
import { shorten } from '../state/malformed-messages.ts';
import type { TriggerMessage } from '../state/message.ts';
import { overQueue } from './queue-away.ts';
import { parseMessage } from '../state/queue-message.ts';
import type { DeadCount, DeadMessageShown, DeadPage } from '../../contract/trigger-operations.ts';
import type { DeadMessage } from '../state/trigger-queues.ts';

/** Messages that are looked at are hidden from others for so long, should they not be shown again. */
const HIDDEN_SECONDS = 30;
/** How long one request goes on: short of the function's own time. */
const LONGEST_MS = 15_000;
const BODY_CHARACTERS = 1000;
const GAVE_UP = 'SQS gave up on it, since it was received so many times without an end';

/**
 * Shows what a trigger's last queue gives: of each shard the ten oldest at most, since a FIFO queue gives no more of a
 * group at once.
 */
export async function listDead(trigger: ManagedTrigger, limit: number): Promise<DeadPage> {
  const { queues, deployed, store } = trigger;
  const queueUrl = deployed.parkedQueueUrl;
  const { least_generation: least = 0 } = await store.status();
  return overQueue(async () => {
    const count = await queues.depth(queueUrl);
    const seen: DeadMessage[] = [];
    const deadline = performance.now() + LONGEST_MS;
    try {
      while (seen.length < limit && performance.now() < deadline) {
        const some = await queues.receive(queueUrl, HIDDEN_SECONDS);
        if (some.length === 0) break;
        seen.push(...some);
      }
    } finally {
      await queues.show(queueUrl, seen);
    }
    return {
      messages: seen.slice(0, Math.min(limit, LIMITS.listCells)).map((message) => shown(message, least)),
      count: Math.max(count, seen.length),
    };
  });
}

/**
 * Each is parked before it is deleted, so that it is always in one of both; what is no message of ours is kept as
 * malformed. Also where a resend came after it: that begins at the oldest cell that was not known to be consumed, and
 * those that came behind a message which SQS moved aside may have been consumed without it. At the worst its cell is
 * given once more.
 */
export function replayDead(trigger: ManagedTrigger): Promise<DeadCount> {
  const { store } = trigger;
  return takeDead(trigger, async ({ messageId, body }) => {
    const message = read(body);
    if (!message) await store.parkMalformed({ message_id: messageId, body, error: GAVE_UP });
    else await store.parkDead(message, GAVE_UP);
  });
}

export function discardDead(trigger: ManagedTrigger): Promise<DeadCount> {
  return takeDead(trigger, async () => undefined);
}

async function takeDead(
  { queues, deployed }: ManagedTrigger,
  keep: (message: DeadMessage) => Promise<void>,
): Promise<DeadCount> {
  const queueUrl = deployed.parkedQueueUrl;
  const deadline = performance.now() + LONGEST_MS;
  let count = 0;
  while (performance.now() < deadline) {
    const some = await overQueue(() => queues.receive(queueUrl, HIDDEN_SECONDS));
    if (some.length === 0) break;
    for (const message of some) await keep(message);
    await overQueue(() => queues.remove(queueUrl, some));
    count += some.length;
  }
  const left = await overQueue(() => queues.depth(queueUrl));
  return { count, left };
}

function shown({ messageId, body, sentAt }: DeadMessage, least: number): DeadMessageShown {
  const message = read(body);
  const about = { message_id: messageId, sent_at: new Date(sentAt).toISOString() };
  if (!message) return { ...about, cell: null, resent: false, body: shorten(body, BODY_CHARACTERS) };
  const { shard, added_id, row_key, column_name, ref_key, created_at } = message;
  return {
    ...about,
    cell: { shard, added_id, row_key, column_name, ref_key, created_at },
    resent: message.generation < least,
    body: null,
  };
}

function read(body: string): TriggerMessage | undefined {
  try {
    return parseMessage(body);
  } catch {
    return undefined;
  }
}
