import { loginOfFunction } from '../login/aws-login.ts';
import { onceWithin, sqsClient } from '../login/clients.ts';
import { pollQueue, type EventSourceDefinition } from '../event-sources/poll-queue.ts';
import { queueCounts, queueOfSource } from '../event-sources/queue-of-source.ts';
import { messageOf } from '../message-of.ts';

interface RunEventSourcesOptions {
  readonly sqsUrl: string;
  readonly invoke: (functionArn: string, event: string) => Promise<string>;
  readonly onError: (message: string) => void;
}

/** Calls functions with the messages of their queues; see `pollQueue`. */
export function runEventSources({ sqsUrl, invoke, onError }: RunEventSourcesOptions) {
  /** By the whole definition. */
  const running = new Map<string, Source>();

  type Source = ReturnType<typeof start>;

  function start(definition: EventSourceDefinition) {
    const { queueUrl, functionArn, batchSize } = definition;
    const report = (message: string): void => onError(`${queueUrl.slice(queueUrl.lastIndexOf('/') + 1)}: ${message}`);
    // Lambda receives with the function's role; without retries, since the poller decides.
    const login = loginOfFunction(functionArn.slice(functionArn.lastIndexOf(':') + 1));
    const client = sqsClient(sqsUrl, { ...login, ...onceWithin(25_000, 1000) });
    // Lambda checks its rights before the first receive.
    queueCounts(client, queueUrl).catch((error: unknown) => report(messageOf(error)));
    const queue = queueOfSource(client, queueUrl, batchSize);
    const poller = pollQueue({ definition, queue, call: (event) => invoke(functionArn, event), report });
    return { definition, poller, client };
  }

  async function take(definitions: readonly EventSourceDefinition[]): Promise<void> {
    const wanted = new Map(definitions.map((definition) => [JSON.stringify(definition), definition]));
    const gone = [...running].filter(([key]) => !wanted.has(key));
    for (const [key] of gone) running.delete(key);
    for (const [key, definition] of wanted) if (!running.has(key)) running.set(key, start(definition));
    await Promise.all(gone.map(([, { poller, client }]) => poller.stop().finally(() => client.destroy())));
  }

  return {
    /** Polls these from now on. Resolves once the calls of the others have ended, or after half a minute. */
    take,
    /** Whom a queue's messages call, and how many calls there are now. */
    of(queueUrl: string) {
      const source = [...running.values()].find(({ definition }) => definition.queueUrl === queueUrl);
      return source && { functionArn: source.definition.functionArn, calls: source.poller.calls };
    },
    /** Stops polling; resolves once the calls have ended, or after half a minute. */
    stop: () => take([]),
  };
}
