import { SQSClient } from '@aws-sdk/client-sqs';
import { openStore, type DatastoreAccess, type OpenStore, type OpenStoreOptions } from '../store-access.ts';

/** The plain data from which a process works for the trigger of a datastore. */
export interface TriggeredAccess extends DatastoreAccess {
  /** URL */
  readonly sqs: string;
  readonly trigger: string;
  readonly queueUrl: string;
  /** The dead-letter queue. */
  readonly parkedQueueUrl: string;
}

export interface TriggeredStore extends OpenStore {
  readonly sqs: SQSClient;
}

/** Opens a datastore and its trigger's queue, in this process. */
export async function openTriggered(access: TriggeredAccess, options?: OpenStoreOptions): Promise<TriggeredStore> {
  const store = await openStore(access, options);
  const sqs = sqsClient(access.sqs);
  return {
    ...store,
    sqs,
    async [Symbol.asyncDispose]() {
      sqs.destroy();
      await store[Symbol.asyncDispose]();
    },
  };
}

export function sqsClient(url: string): SQSClient {
  // The queues' URLs name a host of their own; all of them are here.
  return new SQSClient({
    endpoint: url,
    useQueueUrlAsEndpoint: false,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
}
