import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type QueueAttributeName,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { slicesOf } from '../../slices-of.ts';

/** A message to be sent to a FIFO queue. */
export interface QueueMessage {
  readonly body: string;
  /** Messages of one group are received in the order in which they were accepted. */
  readonly groupId: string;
  /** SQS accepts and drops a second message with the same id within five minutes. */
  readonly deduplicationId: string;
}

/** A message of a trigger's last queue, received and hidden from others for a while. */
export interface DeadMessage {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  /** When SQS moved it there, or it was sent: milliseconds since 1970. */
  readonly sentAt: number;
}

type Received = Pick<DeadMessage, 'receiptHandle'>;

/** The queues of triggers. All methods throw what SQS throws. */
export interface Queues {
  /**
   * Sends 1 to 10 messages in one request. Returns for each message in order: undefined once the queue has it, else why
   * it does not.
   */
  send(queueUrl: string, messages: readonly QueueMessage[]): Promise<readonly (Error | undefined)[]>;
  /** Returns about how many messages the queue holds, being consumed or not: SQS counts up to a minute late. */
  depth(queueUrl: string): Promise<number>;
  /** Receives up to ten messages, hidden for so many seconds; none of a group of which some are hidden. */
  receive(queueUrl: string, seconds: number): Promise<readonly DeadMessage[]>;
  /** Hides messages for so many seconds from now on; 0 shows them. Messages that are gone do not matter. */
  hide(queueUrl: string, messages: readonly Received[], seconds: number): Promise<void>;
  remove(queueUrl: string, messages: readonly Received[]): Promise<void>;
}

/** The operations on queues that tailers need. */
export type SendingQueues = Pick<Queues, 'send' | 'depth'>;

/** Messages that can be received, that are being consumed or wait for an attempt, and that were sent with a delay. */
const COUNTS: QueueAttributeName[] = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
];
/** A longer request is given up and repeated: deduplication ids drop what it had sent. */
const TIMEOUT_MS = 5000;
/** Messages of one request. */
const MOST = 10;

const timeout = () => ({ abortSignal: AbortSignal.timeout(TIMEOUT_MS) });

export function sqsQueues(client: SQSClient): Queues {
  return {
    send: (queueUrl, messages) => sendBatch(client, queueUrl, messages),

    async depth(queueUrl) {
      const command = new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: COUNTS });
      const { Attributes = {} } = await client.send(command, timeout());
      return COUNTS.reduce((sum, count) => sum + Number(Attributes[count] ?? 0), 0);
    },

    async receive(queueUrl, seconds) {
      const command = new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: MOST,
        VisibilityTimeout: seconds,
        WaitTimeSeconds: 0,
        MessageSystemAttributeNames: ['SentTimestamp'],
      });
      const { Messages = [] } = await client.send(command, timeout());
      return Messages.map(({ MessageId = '', ReceiptHandle = '', Body = '', Attributes }) => ({
        messageId: MessageId,
        receiptHandle: ReceiptHandle,
        body: Body,
        sentAt: Number(Attributes?.SentTimestamp ?? 0),
      }));
    },

    async hide(queueUrl, messages, seconds) {
      for (const page of pagesOf(messages)) {
        const Entries = page.map((entry) => ({ ...entry, VisibilityTimeout: seconds }));
        await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries }), timeout());
      }
    },

    async remove(queueUrl, messages) {
      for (const Entries of pagesOf(messages)) {
        const { Failed = [] } = await client.send(
          new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }),
          timeout(),
        );
        const [failed] = Failed;
        if (failed) throw new Error(`${Failed.length} messages were not deleted: ${failed.Code ?? 'no code'}`);
      }
    },
  };
}

async function sendBatch(
  client: SQSClient,
  queueUrl: string,
  messages: readonly QueueMessage[],
): Promise<readonly (Error | undefined)[]> {
  const Entries = messages.map(({ body, groupId, deduplicationId }, item) => ({
    Id: String(item),
    MessageBody: body,
    MessageGroupId: groupId,
    MessageDeduplicationId: deduplicationId,
  }));
  const { Successful = [], Failed = [] } = await client.send(
    new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }),
    timeout(),
  );
  const accepted = new Set(Successful.map(({ Id }) => Id));
  const reasons = new Map(
    Failed.map(({ Id, Code, Message }) => [Id, `${Code ?? 'no code'}: ${Message ?? 'no message'}`]),
  );
  // A message that the answer does not mention does not count as sent.
  return messages.map((_, item) =>
    accepted.has(String(item))
      ? undefined
      : new Error(reasons.get(String(item)) ?? 'SQS did not say what became of it'),
  );
}

function pagesOf(messages: readonly Received[]) {
  return slicesOf(messages, MOST).map((page) =>
    page.map(({ receiptHandle }, position) => ({ Id: String(position), ReceiptHandle: receiptHandle })),
  );
}

/** Whether two URLs are of one queue by account and name: a local stack's ports change. None equals none. */
export function isSameQueue(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  // Called for each shard, each time it is read.
  return one === other || nameOf(one) === nameOf(other);
}

function nameOf(queueUrl: string): string {
  return URL.canParse(queueUrl) ? new URL(queueUrl).pathname : queueUrl;
}

/** Returns about how many messages SQS gave up on; 0 for a trigger without a last queue. */
export async function deadIn(
  queues: Pick<Queues, 'depth'>,
  { parkedQueueUrl }: { readonly parkedQueueUrl: string },
): Promise<number> {
  return parkedQueueUrl === '' ? 0 : queues.depth(parkedQueueUrl);
}
