import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventSourceDefinition } from './event-source.ts';
import { failedMessages } from './failed-messages.ts';
import { sqsEvent } from './sqs-event.ts';
import type { QueueOfSource, ReceivedMessage } from './queue-of-source.ts';

interface PollOptions {
  readonly definition: EventSourceDefinition;
  readonly queue: QueueOfSource;
  /** Calls the function with JSON text. */
  readonly call: (event: string) => Promise<string>;
  /** Told what went wrong. */
  readonly report: (message: string) => void;
}

export interface QueuePoller {
  /** Calls of the function under way. */
  readonly calls: number;
  /** Takes no more messages; resolves once the calls under way have ended, or after half a minute. */
  stop(): Promise<void>;
}

/**
 * More would only take memory and processors from each other, and from the callers, on one machine, whatever the template
 * allows. Beside 32 callers who put a triggered column, 8 on 2 processors left them 0.57 of what they put without the
 * trigger, 4 leave 0.67; alone, 4 did 0.82 of what 8 do.
 */
const MOST_CALLS = Math.min(8, 2 * availableParallelism());
/** Until the service is asked again when it is away. */
const AWAY_PAUSE_MS = 250;
/** Then messages that are done but could not be deleted are left; they come again. */
const DELETE_MS = 60_000;
const STOP_MS = 30_000;

/**
 * Calls a function with the messages of its queue, as Lambda's event source mapping does: what one receive gives is
 * one call. Messages that the call has done with are deleted. Those that it reports as failed, and all when it throws,
 * are left: they come again once their visibility ends. While there is work there is always one more receive waiting,
 * up to the most calls at once; when there is none, only one.
 */
export function pollQueue({ definition, queue, call, report }: PollOptions): QueuePoller {
  const { queueArn, reportsFailures, maximumConcurrency = MOST_CALLS } = definition;
  const most = Math.min(maximumConcurrency, MOST_CALLS);
  const stopping = new AbortController();
  const lines = new Set<Promise<void>>();
  let receiving = 0;
  let calls = 0;
  let isAway = false;

  function addLine(): void {
    const line = work().finally(() => lines.delete(line));
    lines.add(line);
  }

  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      receiving += 1;
      const messages = await receive();
      receiving -= 1;
      if (messages.length > 0) {
        if (receiving === 0 && lines.size < most) addLine();
        await handle(messages);
      } else if (receiving > 0) return;
    }
  }

  async function receive(): Promise<readonly ReceivedMessage[]> {
    try {
      const messages = await queue.receive(stopping.signal);
      if (isAway) report('answers again');
      isAway = false;
      return messages;
    } catch (error) {
      if (stopping.signal.aborted) return [];
      if (!isAway) report(`cannot be asked for messages: ${describe(error)}`);
      isAway = true;
      await sleep(AWAY_PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => {});
      return [];
    }
  }

  async function handle(messages: readonly ReceivedMessage[]): Promise<void> {
    calls += 1;
    try {
      const answer = await call(JSON.stringify(sqsEvent(messages, queueArn)));
      const failed = reportsFailures
        ? failedMessages(answer, new Set(messages.map(({ MessageId }) => MessageId)))
        : new Set<string>();
      await remove(messages.filter(({ MessageId }) => !failed.has(MessageId)));
    } catch (error) {
      report(`${messages.length} messages are left until their visibility ends: ${describe(error)}`);
    } finally {
      calls -= 1;
    }
  }

  /** The service may be away for a while: what is done is not to come again for that. */
  async function remove(messages: readonly ReceivedMessage[]): Promise<void> {
    const giveUpAt = performance.now() + DELETE_MS;
    for (let left = messages; left.length > 0;) {
      try {
        left = await queue.delete(left);
      } catch (error) {
        if (stopping.signal.aborted || performance.now() > giveUpAt) throw error;
        await sleep(AWAY_PAUSE_MS);
      }
    }
  }

  addLine();
  return {
    get calls() {
      return calls;
    },
    async stop() {
      stopping.abort();
      const late = new AbortController();
      await Promise.race([Promise.all(lines), sleep(STOP_MS, undefined, { signal: late.signal }).catch(() => {})]);
      late.abort();
    },
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
