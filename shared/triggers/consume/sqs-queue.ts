import { ChangeMessageVisibilityBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { ConsumerQueue } from './queue-record.ts';

/** SQS takes so many messages a request. */
const MOST = 10;

/** A queue of SQS as a consumer needs it. Throws what SQS throws when it is not reached. */
export function sqsQueue(client: SQSClient, queueUrl: string): ConsumerQueue {
  return {
    async setVisibility(records, seconds) {
      for (let first = 0; first < records.length; first += MOST) {
        const entries = records.slice(first, first + MOST).map(({ receiptHandle }, position) => ({
          Id: String(position),
          ReceiptHandle: receiptHandle,
          VisibilityTimeout: seconds,
        }));
        // An entry that fails is of a message that was deleted, or shown to somebody else already.
        await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries: entries }));
      }
    },
  };
}
