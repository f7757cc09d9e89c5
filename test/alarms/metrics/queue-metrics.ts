import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { queueStatus } from '../../../infra/local/control/queue-status.ts';
import type { StackQueue } from '../../../infra/local/template/stack-queues.ts';
import type { MetricStore } from './metric-store.ts';

/** Looks at queues as SQS would for CloudWatch: what can be received, and how long the oldest message is there. */
export async function takeQueues(
  store: Pick<MetricStore, 'add'>,
  queues: readonly StackQueue[],
  { url, folder }: { readonly url: string; readonly folder: string },
): Promise<void> {
  const sentAt = firstSent(folder);
  for (const { name, visible } of await queueStatus(queues, url)) {
    // While SQS is away it says nothing.
    if (visible === undefined) continue;
    const metric = { namespace: 'AWS/SQS', dimensions: { QueueName: name } };
    const at = Date.now();
    const age = Math.max(0, at - (sentAt.get(name) ?? at)) / 1000;
    store.add({ ...metric, name: 'ApproximateNumberOfMessagesVisible' }, at, visible);
    store.add({ ...metric, name: 'ApproximateAgeOfOldestMessage' }, at, age);
  }
}

/** When the oldest message of each queue was sent, by the emulator's own file: no call of SQS says it. */
function firstSent(folder: string): ReadonlyMap<string, number> {
  const database = new DatabaseSync(join(folder, 'fauxqs.db'), { readOnly: true });
  try {
    const rows = database
      .prepare('SELECT queue_name AS name, MIN(sent_timestamp) AS sent FROM sqs_messages GROUP BY queue_name')
      .all();
    return new Map(rows.map(({ name, sent }) => [String(name), Number(sent)]));
  } finally {
    database.close();
  }
}
