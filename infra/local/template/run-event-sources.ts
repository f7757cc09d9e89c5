import { SQSClient } from '@aws-sdk/client-sqs';
import { awsLogin } from '../stack/aws-login.ts';
import { pollQueue } from '../event-sources/poll-queue.ts';
import { queueOfSource } from '../event-sources/queue-of-source.ts';
import type { EventSourceDefinition } from './resources/event-source.ts';

export interface RunEventSourcesOptions {
  readonly definitions: readonly EventSourceDefinition[];
  readonly sqsUrl: string;
  /** Calls a function by ARN with JSON text. */
  readonly invoke: (functionArn: string, event: string) => Promise<string>;
  /** Told what went wrong. */
  readonly onError: (message: string) => void;
}

/** A queue that calls a function. */
export interface EventSourceStatus {
  readonly queueUrl: string;
  readonly functionArn: string;
  /** Calls under way. */
  readonly calls: number;
}

export interface RunningEventSources {
  status(): readonly EventSourceStatus[];
  /** Takes no more messages; resolves once the calls under way have ended, or after half a minute. */
  stop(): Promise<void>;
}

/** Calls functions with the messages of their queues, see `pollQueue`. */
export function runEventSources({ definitions, sqsUrl, invoke, onError }: RunEventSourcesOptions): RunningEventSources {
  const client = localSqs(sqsUrl);
  const pollers = definitions.map((definition) => ({
    definition,
    poller: pollQueue({
      definition,
      queue: queueOfSource(client, definition.queueUrl, definition.batchSize),
      call: (event) => invoke(definition.functionArn, event),
      report: (message) =>
        onError(`${definition.queueUrl.slice(definition.queueUrl.lastIndexOf('/') + 1)}: ${message}`),
    }),
  }));
  return {
    status: () =>
      pollers.map(({ definition: { queueUrl, functionArn }, poller }) => ({
        queueUrl,
        functionArn,
        calls: poller.calls,
      })),
    async stop() {
      await Promise.all(pollers.map(({ poller }) => poller.stop()));
      client.destroy();
    },
  };
}

/** Repeats nothing by itself: whoever asks knows better what it is worth. */
function localSqs(url: string): SQSClient {
  return new SQSClient({
    endpoint: url,
    ...awsLogin(),
    maxAttempts: 1,
    // A receive waits 20 s.
    requestHandler: { connectionTimeout: 1000, requestTimeout: 25_000, throwOnRequestTimeout: true },
  });
}
