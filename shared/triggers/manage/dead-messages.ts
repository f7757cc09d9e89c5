import { LIMITS } from '../../cell.ts';
import type { ManagedTrigger } from './managed-trigger.ts';
import { shorten } from '../state/malformed-messages.ts';
import type { TriggerMessage } from '../state/trigger-store.ts';
import { overQueue } from './unavailable.ts';
import { parseMessage } from '../state/queue-message.ts';
import type { DeadMessageShown, DeadPage } from '../../api/trigger-shapes.ts';
import type { DeadMessage } from '../state/queues.ts';

/** How long messages stay hidden from others if they are not shown again. */
const HIDDEN_SECONDS = 30;
/** How long one request goes on: less than the function's own time. */
const LONGEST_MS = 15_000;
const BODY_CHARACTERS = 1000;
const GAVE_UP = 'SQS gave up on it, since it was received so many times without an end';

/**
 * Lists messages of the last queue, at most the ten oldest of a shard: a FIFO queue gives no more of a group at once.
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
      await queues.hide(queueUrl, seen, 0);
    }
    return {
      messages: seen.slice(0, Math.min(limit, LIMITS.listCells)).map((message) => shown(message, least)),
      count: Math.max(count, seen.length),
    };
  });
}

/** Numbers of messages that SQS gave up on: how many were taken out, and about how many are left. */
interface DeadCount {
  readonly count: number;
  readonly left: number;
}

/**
 * Parks each message before it deletes it; an unknown message is kept as malformed. It does so after a resend too:
 * cells behind a message that SQS moved aside may have been consumed without it. At worst a cell is delivered again.
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
