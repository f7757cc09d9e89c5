/** The internal parts of fauxqs that this folder fixes. */

export interface QueuedMessage {
  readonly messageId: string;
  readonly body: string;
  readonly md5OfBody: string;
  readonly messageAttributes: Readonly<Record<string, object>>;
  readonly md5OfMessageAttributes: string;
  approximateReceiveCount: number;
  approximateFirstReceiveTimestamp?: number | undefined;
  readonly messageGroupId?: string;
  sequenceNumber?: string;
}

/** A message received, and neither deleted nor given back. */
export interface HeldMessage {
  readonly message: QueuedMessage;
  readonly receiptHandle: string;
  readonly visibilityDeadline: number;
}

export interface ReceivedMessage {
  readonly MessageId: string;
  readonly ReceiptHandle: string;
  readonly MD5OfBody: string;
  readonly Body: string;
  readonly MD5OfMessageAttributes?: string;
  readonly MessageAttributes?: Readonly<Record<string, object>>;
}

export interface FauxqsFile {
  readonly db: { exec(sql: string): void; prepare(sql: string): { run(...values: readonly string[]): unknown } };
  load(...stores: unknown[]): void;
  updateMessageInflight(
    messageId: string,
    receiptHandle: string | null,
    deadline: number | null,
    receiveCount: number,
    firstReceived: number | undefined,
  ): void;
  updateMessageReady(messageId: string): void;
}

export interface FauxqsQueue {
  readonly attributes: Readonly<Record<string, string | undefined>>;
  readonly persistence?: FauxqsFile;
  readonly inflightMessages: Map<string, HeldMessage>;
  readonly fifoMessages: Map<string, QueuedMessage[]>;
  readonly fifoLockedGroups: Map<string, number>;
  isFifo(): boolean;
  enqueue(message: QueuedMessage): void;
  nextSequenceNumber(): string;
  notifyWaiters(): void;
  dequeueFifo(
    limit: number,
    visibilitySeconds: number | undefined,
    queueByArn: ((arn: string) => FauxqsQueue | undefined) | undefined,
  ): ReceivedMessage[];
  changeVisibility(receiptHandle: string, seconds: number): void;
  processTimers(): void;
  pollTimer: NodeJS.Timeout | undefined;
  startPollTimerIfNeeded(): void;
}

interface FauxqsStore {
  getQueue(url: string): FauxqsQueue | undefined;
}

type FauxqsAction = (
  body: { readonly QueueUrl?: string },
  store: FauxqsStore,
  request: { readonly raw: { readonly socket: { readonly destroyed: boolean } } },
) => unknown;

export interface FauxqsRouter {
  register(action: string, answer: FauxqsAction): void;
}

/** Returns the prototypes of fauxqs's classes. Throws if its version lacks one. */
export async function fauxqsParts() {
  const exported = async (path: string, name: string): Promise<unknown> =>
    Object(await import(new URL(path, import.meta.resolve('fauxqs')).href))[name];
  const prototypeOf = async <T>(path: string, name: string, methods: readonly (keyof T & string)[]): Promise<T> => {
    const { prototype } = Object(await exported(path, name));
    for (const method of methods)
      if (typeof Object(prototype)[method] !== 'function') throw missing(`${name}.${method}`);
    return prototype;
  };
  const [queue, file, router, forbidden] = await Promise.all([
    prototypeOf<FauxqsQueue>('sqs/sqsStore.js', 'SqsQueue', [
      'isFifo',
      'enqueue',
      'nextSequenceNumber',
      'notifyWaiters',
      'dequeueFifo',
      'changeVisibility',
      'processTimers',
      'startPollTimerIfNeeded',
    ]),
    prototypeOf<FauxqsFile>('persistence.js', 'PersistenceManager', [
      'load',
      'updateMessageInflight',
      'updateMessageReady',
    ]),
    prototypeOf<FauxqsRouter>('sqs/sqsRouter.js', 'SqsRouter', ['register']),
    exported('sqs/sqsTypes.js', 'INVALID_MESSAGE_BODY_CHAR'),
  ]);
  if (!(forbidden instanceof RegExp)) throw missing('INVALID_MESSAGE_BODY_CHAR');
  return { queue, file, router, forbidden };
}

function missing(part: string): Error {
  return new Error(`fauxqs: wanted ${part}, which this version lacks: infra/local/emulators patches 2.4.1`);
}
