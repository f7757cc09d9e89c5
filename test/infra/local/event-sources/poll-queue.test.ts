import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SQSEvent } from 'aws-lambda';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Service } from '../../../../infra/local/emulators/emulator.ts';
import { startService } from '../../../../infra/local/emulators/start-service.ts';
import { pollQueue } from '../../../../infra/local/event-sources/poll-queue.ts';
import { queueOfSource } from '../../../../infra/local/event-sources/queue-of-source.ts';
import type { EventSourceDefinition } from '../../../../infra/local/template/resources/event-source.ts';
import { fifoQueue, sqsClient, type FifoQueue } from '../../support/fifo-queue.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';

const folder = folderOfTests();
let sqs: Service;
let client: SQSClient;

beforeAll(async () => {
  sqs = await startService('sqs', folder.path);
  client = sqsClient(sqs.url);
});
afterAll(async () => {
  client?.destroy();
  await sqs?.close();
});

interface Polled {
  readonly queue: FifoQueue;
  /** What each call got, in the order of the calls. */
  readonly batches: string[][];
  readonly events: SQSEvent[];
  readonly reports: string[];
  readonly stop: () => Promise<void>;
}

type Answer = (texts: readonly string[], event: SQSEvent) => Promise<object | null>;

/** Polls a new queue; `answer` is the function. */
async function polled(
  answer: Answer,
  given: { readonly attributes?: Record<string, string>; readonly definition?: Partial<EventSourceDefinition> } = {},
): Promise<Polled> {
  const queue = await fifoQueue(client, given.attributes);
  const [batches, events, reports]: [string[][], SQSEvent[], string[]] = [[], [], []];
  const definition = {
    queueUrl: queue.url,
    queueArn: queue.arn,
    functionArn: 'arn',
    batchSize: 10,
    maximumConcurrency: undefined,
    reportsFailures: true,
    ...given.definition,
  };
  const poller = pollQueue({
    definition,
    queue: queueOfSource(client, queue.url, definition.batchSize),
    report: (message) => reports.push(message),
    async call(text) {
      const event: SQSEvent = JSON.parse(text);
      const bodies = event.Records.map(({ body }) => body);
      events.push(event);
      batches.push(bodies);
      return JSON.stringify(await answer(bodies, event));
    },
  });
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
    const { queue, events, stop } = await polled(async () => null);
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
    await stop();
  });

  it('hands over each message once, in the order of its group, and forgets it then', async () => {
    const { queue, batches, stop } = await polled(async () => sleep(5, null));
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
    await stop();
  });

  it('forgets what succeeded of a batch; the rest comes again in order when its visibility ends', async () => {
    let isFirst = true;
    const { queue, batches, stop } = await polled(
      async (_, event) => {
        const failures = isFirst ? failuresOf(event, (text) => text === 'a:2' || text === 'a:3') : {};
        isFirst = false;
        return failures;
      },
      { attributes: { VisibilityTimeout: '1' } },
    );
    await queue.send('a:1', 'a:2', 'a:3', 'b:1');
    await expect
      .poll(() => batches)
      .toEqual([
        ['a:1', 'a:2', 'a:3', 'b:1'],
        ['a:2', 'a:3'],
      ]);
    await expect.poll(() => queue.count()).toEqual(EMPTY);
    await stop();
  });

  it('forgets nothing of a batch whose call throws', async () => {
    let calls = 0;
    const { queue, batches, reports, stop } = await polled(
      async () => {
        calls += 1;
        if (calls === 1) throw new Error('no card service');
        return null;
      },
      { attributes: { VisibilityTimeout: '1' } },
    );
    await queue.send('a:1', 'a:2');
    await expect
      .poll(() => batches)
      .toEqual([
        ['a:1', 'a:2'],
        ['a:1', 'a:2'],
      ]);
    expect(reports).toEqual(['2 messages are left until their visibility ends: no card service']);
    await stop();
  });

  it('takes an answer for a success of all where failures are not to be reported', async () => {
    const { queue, batches, stop } = await polled(async (_, event) => failuresOf(event, () => true), {
      definition: { reportsFailures: false },
    });
    await queue.send('a:1', 'a:2');
    await expect.poll(() => batches.length).toBe(1);
    await expect.poll(() => queue.count()).toEqual(EMPTY);
    await stop();
  });

  it.each([
    // Those of one machine, which it shares with the callers.
    [undefined, Math.min(8, 2 * availableParallelism())],
    [3, 3],
  ])('with a maximum of %s makes at most %d calls at once, of one group one', async (maximumConcurrency, most) => {
    const running: string[] = [];
    let highest = 0;
    const clashes: string[] = [];
    /** Those that come wait until there are as many as may be, and a moment more, in which one too many would come. */
    const full = Promise.withResolvers<void>();
    const { queue, batches, stop } = await polled(
      async (texts) => {
        const groups = [...new Set(texts.map((text) => text.split(':')[0] ?? ''))];
        clashes.push(...groups.filter((group) => running.includes(group)));
        running.push(...groups);
        highest = Math.max(highest, running.length);
        if (running.length === most) setTimeout(full.resolve, 300);
        await full.promise;
        await sleep(20);
        for (const group of groups) running.splice(running.indexOf(group), 1);
        return null;
      },
      { definition: { batchSize: 1, maximumConcurrency } },
    );
    await queue.send(...Array.from({ length: 60 }, (_, index) => `${Math.floor(index / 2)}:${index}`));
    await expect.poll(() => batches.length).toBe(60);
    expect(highest).toBe(most);
    expect(clashes).toEqual([]);
    await stop();
  });

  it('goes on when SQS was away, and forgets what was done meanwhile', async () => {
    const { queue, batches, reports, stop } = await polled(async (texts) => {
      if (texts[0] === 'a:1') await sqs.kill();
      return null;
    });
    await queue.send('a:1', 'a:2');
    await expect.poll(() => reports.length).toBe(1);
    expect(reports[0]).toMatch(/^cannot be asked for messages: /u);
    await sqs.resume();
    await queue.send('a:3');
    await expect.poll(() => batches.flat()).toEqual(['a:1', 'a:2', 'a:3']);
    await expect.poll(() => queue.count()).toEqual(EMPTY);
    expect(reports.at(-1)).toBe('answers again');
    await stop();
  });

  it('waits for the calls under way when it stops, and takes nothing more', async () => {
    let ended = false;
    const { queue, batches, stop } = await polled(async () => {
      await sleep(500);
      ended = true;
      return null;
    });
    await queue.send('a:1');
    await expect.poll(() => batches.length).toBe(1);
    await stop();
    expect(ended).toBe(true);
    await queue.send('a:2');
    await sleep(300);
    expect(await queue.count()).toEqual({ visible: 1, held: 0 });
  });
});
