import { availableParallelism } from 'node:os';
import type { SQSEvent } from 'aws-lambda';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  failedMessages,
  pollQueue,
  type EventSourceDefinition,
} from '../../../../infra/local/event-sources/poll-queue.ts';
import { queueOfSource } from '../../../../infra/local/event-sources/queue-of-source.ts';
import { fifoQueue, texts, type FifoQueue } from '../../support/fifo-queue.ts';
import { sqsOfTests } from '../../support/sqs-of-tests.ts';

const here = sqsOfTests();

interface Polled {
  readonly queue: FifoQueue;
  readonly batches: string[][];
  readonly events: SQSEvent[];
  readonly reports: string[];
  readonly stop: () => Promise<void>;
}

/**
 * Polls a new queue until the test ends; `answer` is the function. While `isUnavailable`, SQS does not answer the
 * poller.
 */
async function polled(
  answer: (texts: readonly string[], event: SQSEvent) => Promise<object | null>,
  given: Partial<EventSourceDefinition> = {},
  isUnavailable = (): boolean => false,
): Promise<Polled> {
  const queue = await fifoQueue(here.client);
  const [batches, events, reports]: [string[][], SQSEvent[], string[]] = [[], [], []];
  const definition = {
    queueUrl: queue.url,
    queueArn: queue.arn,
    functionArn: 'arn',
    batchSize: 10,
    maximumConcurrency: undefined,
    reportsFailures: true,
    ...given,
  };
  const source = queueOfSource(here.client, queue.url, definition.batchSize);
  const asked = <T>(call: () => Promise<T>): Promise<T> =>
    isUnavailable() ? Promise.reject(new Error('unavailable')) : call();
  const poller = pollQueue({
    definition,
    queue: {
      receive: (signal) => asked(() => source.receive(signal)),
      delete: (messages) => asked(() => source.delete(messages)),
    },
    report: (message) => reports.push(message),
    async call(text) {
      const event: SQSEvent = JSON.parse(text);
      const bodies = event.Records.map(({ body }) => body);
      events.push(event);
      batches.push(bodies);
      return JSON.stringify(await answer(bodies, event));
    },
  });
  onTestFinished(() => poller.stop());
  return { queue, batches, events, reports, stop: () => poller.stop() };
}

const failuresOf = ({ Records }: SQSEvent, isFailed: (text: string) => boolean): object => ({
  batchItemFailures: Records.filter(({ body }) => isFailed(body)).map(({ messageId }) => ({
    itemIdentifier: messageId,
  })),
});
const EMPTY = { visible: 0, held: 0 };

describe('a queue that calls a function', () => {
  it('hands over what Lambda does', async () => {
    const { queue, events } = await polled(async () => null);
    await queue.send('17:one');
    await expect.poll(() => events.length).toBe(1);
    expect(events[0]).toEqual({
      Records: [
        {
          messageId: expect.stringMatching(/^[0-9a-f-]{36}$/u),
          receiptHandle: expect.any(String),
          body: '17:one',
          attributes: {
            ApproximateReceiveCount: '1',
            SentTimestamp: expect.stringMatching(/^\d{13}$/u),
            SequenceNumber: expect.stringMatching(/^\d{20}$/u),
            MessageGroupId: '17',
            SenderId: expect.any(String),
            MessageDeduplicationId: expect.any(String),
            ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/u),
          },
          messageAttributes: {},
          md5OfBody: expect.stringMatching(/^[0-9a-f]{32}$/u),
          eventSource: 'aws:sqs',
          eventSourceARN: queue.arn,
          awsRegion: 'us-east-1',
        },
      ],
    });
  });

  it('hands over each message once, in the order of its group, and forgets it then', async () => {
    const { queue, batches } = await polled(async () => null);
    const sent = Array.from({ length: 120 }, (_, index) => `${index % 4}:${index}`);
    await queue.send(...sent);
    await expect.poll(() => batches.flat().length).toBe(120);
    await expect.poll(() => queue.count()).toEqual(EMPTY);
    for (const group of ['0', '1', '2', '3']) {
      expect(batches.flat().filter((text) => text.startsWith(`${group}:`))).toEqual(
        sent.filter((text) => text.startsWith(`${group}:`)),
      );
    }
    expect(Math.max(...batches.map((batch) => batch.length))).toBe(10);
  });

  it('forgets what succeeded of a batch; the rest comes again in order when its visibility ends', async () => {
    const { queue, batches } = await polled(async (_, event) =>
      batches.length === 1 ? failuresOf(event, (text) => text === 'a:2' || text === 'a:3') : {},
    );
    await queue.send('a:1', 'a:2', 'a:3', 'b:1');
    await expect.poll(() => queue.count()).toEqual({ visible: 0, held: 2 });
    vi.advanceTimersByTime(60_000);
    await expect
      .poll(() => batches)
      .toEqual([
        ['a:1', 'a:2', 'a:3', 'b:1'],
        ['a:2', 'a:3'],
      ]);
    await expect.poll(() => queue.count()).toEqual(EMPTY);
  });

  it('forgets nothing of a batch whose call throws', async () => {
    const { queue, batches, reports } = await polled(async () => {
      if (batches.length === 1) throw new Error('no card service');
      return null;
    });
    await queue.send('a:1', 'a:2');
    await expect.poll(() => reports).toEqual(['2 messages are left until their visibility ends: no card service']);
    vi.advanceTimersByTime(60_000);
    await expect
      .poll(() => batches)
      .toEqual([
        ['a:1', 'a:2'],
        ['a:1', 'a:2'],
      ]);
  });

  it('takes an answer for a success of all where failures are not to be reported', async () => {
    const { queue, batches } = await polled(async (_, event) => failuresOf(event, () => true), {
      reportsFailures: false,
    });
    await queue.send('a:1', 'a:2');
    await expect.poll(() => batches.length).toBe(1);
    await expect.poll(() => queue.count()).toEqual(EMPTY);
  });

  it.each([
    // Those of one machine, which it shares with the callers.
    [undefined, Math.min(8, 2 * availableParallelism())],
    [3, 3],
  ])('with a maximum of %s makes at most %d calls at once, of one group one', async (maximumConcurrency, most) => {
    const running: string[] = [];
    const clashes: string[] = [];
    let highest = 0;
    /** The first calls wait until there are as many as may be. */
    const full = Promise.withResolvers<void>();
    const { queue, batches } = await polled(
      async ([text = '']) => {
        const [group = ''] = text.split(':');
        if (running.includes(group)) clashes.push(group);
        running.push(group);
        highest = Math.max(highest, running.length);
        if (running.length === most) full.resolve();
        await full.promise;
        // Long enough for one too many to come.
        for (let turn = 0; turn < 3; turn += 1) await queue.count();
        running.splice(running.indexOf(group), 1);
        return null;
      },
      { batchSize: 1, maximumConcurrency },
    );
    await queue.send(...Array.from({ length: 40 }, (_, index) => `${Math.floor(index / 2)}:${index}`));
    await expect.poll(() => batches.length).toBe(40);
    expect(highest).toBe(most);
    expect(clashes).toEqual([]);
  });

  it('continues when SQS was away, and forgets what was done meanwhile', async () => {
    let isUnavailable = false;
    const { queue, batches, reports } = await polled(
      async ([text]) => {
        if (text === 'a:1') isUnavailable = true;
        return null;
      },
      {},
      () => isUnavailable,
    );
    await queue.send('a:1', 'a:2', 'b:1');
    await queue.send('c:1');
    await expect.poll(() => reports).toEqual(['cannot be asked for messages: unavailable']);
    isUnavailable = false;
    await queue.send('a:3');
    await expect.poll(() => batches.flat().filter((text) => text.startsWith('a'))).toEqual(['a:1', 'a:2', 'a:3']);
    await expect.poll(() => queue.count()).toEqual(EMPTY);
    expect(reports.at(-1)).toBe('answers again');
  });

  it('waits for the calls under way when it stops, and takes nothing more', async () => {
    const call = Promise.withResolvers<null>();
    const { queue, batches, stop } = await polled(() => call.promise);
    await queue.send('a:1');
    await expect.poll(() => batches.length).toBe(1);
    let isStopped = false;
    const stopping = stop().then(() => (isStopped = true));
    await queue.count();
    expect(isStopped).toBe(false);
    call.resolve(null);
    await stopping;
    await queue.send('b:1');
    const received = async () => {
      // It comes back if SQS gave it to the receive that was given up.
      vi.advanceTimersByTime(60_000);
      return texts(await queue.receive());
    };
    await expect.poll(received).toEqual(['b:1']);
    expect(batches).toEqual([['a:1']]);
  });
});

const BATCH = new Set(['1', '2', '3']);

describe('the answer to a batch', () => {
  it.each([
    ['null', []],
    ['{}', []],
    ['"done"', []],
    ['{"batchItemFailures":null}', []],
    ['{"batchItemFailures":[]}', []],
    ['{"batchItemFailures":[{"itemIdentifier":"2"},{"itemIdentifier":"3"}]}', ['2', '3']],
    ['{"batchItemFailures":[{"itemIdentifier":"4"}]}', ['1', '2', '3']],
    ['{"batchItemFailures":[{"itemIdentifier":""}]}', ['1', '2', '3']],
    ['{"batchItemFailures":[{"itemIdentifier":null}]}', ['1', '2', '3']],
    ['{"batchItemFailures":[{"messageId":"2"}]}', ['1', '2', '3']],
    ['{"batchItemFailures":"2"}', ['1', '2', '3']],
  ])('%s means that %j failed', (answer, failed) => {
    expect([...failedMessages(answer, BATCH)]).toEqual(failed);
  });
});
