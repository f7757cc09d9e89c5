import { SQSClient } from '@aws-sdk/client-sqs';
import { awsLogin } from '../login/aws-login.ts';
import { queueCounts, type QueueCounts } from '../event-sources/queue-of-source.ts';
import type { StackQueue } from '../template/stack-queues.ts';

export interface QueueStatus extends StackQueue, Partial<QueueCounts> {}

const ANSWER_MS = 2000;

export async function queueStatus(queues: readonly StackQueue[], sqsUrl: string): Promise<readonly QueueStatus[]> {
  const client = new SQSClient({
    endpoint: sqsUrl,
    ...awsLogin(),
    maxAttempts: 1,
    requestHandler: { connectionTimeout: ANSWER_MS, requestTimeout: ANSWER_MS, throwOnRequestTimeout: true },
  });
  try {
    return await Promise.all(
      queues.map(async (queue) => ({ ...queue, ...(await queueCounts(client, queue.url).catch(() => ({}))) })),
    );
  } finally {
    client.destroy();
  }
}
