import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fauxqsParts, type FauxqsQueue } from '../../../../infra/local/emulators/fauxqs-parts.ts';
import { fifoQueue, texts } from '../../support/fifo-queue.ts';
import { sqsOfTests } from '../../support/sqs-of-tests.ts';

const here = sqsOfTests();
const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

describe('a FIFO queue', () => {
  it('gives as many messages of a group as there are, in order, and then of the next', async () => {
    const queue = await fifoQueue(here.client);
    await queue.send('a:1', 'a:2', 'b:1', 'a:3', 'b:2');
    expect(texts(await queue.receive(4))).toEqual(['a:1', 'a:2', 'a:3', 'b:1']);
  });

  it('takes every character that SQS takes, and no other', async () => {
    const queue = await fifoQueue(here.client);
    await queue.send('a:\u{1F695} \u6771\u4EAC');
    expect(texts(await queue.receive())).toEqual(['a:\u{1F695} \u6771\u4EAC']);
    await queue.send('a:\uFFFF', 'a:\u0000');
    expect(await queue.count()).toEqual({ visible: 0, held: 1 });
  });

  it('gives nothing of a group of which a message is held, until the last of them is done', async () => {
    const queue = await fifoQueue(here.client);
    await queue.send('a:1', 'a:2', 'a:3', 'b:1');
    const [first, second] = await queue.receive(2);
    expect(texts(await queue.receive())).toEqual(['b:1']);
    if (first) await queue.delete(first);
    expect(await queue.receive()).toEqual([]);
    if (second) await queue.delete(second);
    expect(texts(await queue.receive())).toEqual(['a:3']);
  });

  it('takes messages back into their order: at once, later, and when their time is over', async () => {
    const queue = await fifoQueue(here.client, { VisibilityTimeout: '30' });
    const all = ['a:1', 'a:2', 'a:3', 'a:4'];
    await queue.send(...all);
    await queue.hide(0, ...(await queue.receive(3)));
    expect(texts(await queue.receive())).toEqual(all);
    pass(30);
    const again = await queue.receive();
    expect(texts(again)).toEqual(all);
    await queue.hideAll(1, again.toReversed());
    expect(await queue.receive()).toEqual([]);
    pass(1);
    expect(texts(await queue.receive())).toEqual(all);
    pass(30);
    const counts = (await queue.receive()).map(({ Attributes }) => Attributes?.['ApproximateReceiveCount']);
    expect(counts).toEqual(['5', '5', '5', '4']);
  });

  it('waits for the slowest of a group: what came back early stays until all are back', async () => {
    const queue = await fifoQueue(here.client);
    await queue.send('a:1', 'a:2', 'a:3');
    const [one, two, three] = await queue.receive();
    if (!one || !two || !three) throw new Error('wanted three messages');
    await queue.hide(2, one);
    await queue.hide(0, two, three);
    expect(await queue.receive()).toEqual([]);
    pass(2);
    expect(texts(await queue.receive())).toEqual(['a:1', 'a:2', 'a:3']);
  });

  it('takes messages back into their order that return between two reads of the clock', async () => {
    const { queue: prototype } = await fauxqsParts();
    const Queue = prototype.constructor as new (...parts: readonly (string | object)[]) => FauxqsQueue;
    const queue = new Queue('a.fifo', 'url', 'arn', { FifoQueue: 'true' });
    for (const order of ['1', '2', '3']) {
      queue.enqueue({
        messageId: order,
        body: order,
        md5OfBody: '',
        messageAttributes: {},
        md5OfMessageAttributes: '',
        approximateReceiveCount: 0,
        messageGroupId: 'a',
        sequenceNumber: order,
      });
    }
    vi.setSystemTime(1000);
    expect(queue.dequeueFifo(10, 1, undefined)).toHaveLength(3);
    // Nothing has returned by the first look; by the second, later in the same call, all have.
    const clock = vi.spyOn(Date, 'now').mockReturnValueOnce(1000).mockReturnValue(6000);
    queue.processTimers();
    clock.mockRestore();
    expect(queue.fifoMessages.get('a')?.map(({ body }) => body)).toEqual(['1', '2', '3']);
  });

  it('serves groups in turn, whatever one of them has waiting', async () => {
    const queue = await fifoQueue(here.client);
    await queue.send(...Array.from({ length: 30 }, (_, index) => `busy:${index}`), 'quiet:1');
    const served: (string | undefined)[] = [];
    for (let turn = 0; turn < 2; turn += 1) {
      const messages = await queue.receive(10);
      served.push(...texts(messages));
      await queue.delete(...messages);
    }
    expect(served[9]).toBe('busy:9');
    expect(served).toContain('quiet:1');
  });

  it('moves what was received too often to the dead-letter queue, and goes on with the rest', async () => {
    const parked = await fifoQueue(here.client);
    const queue = await fifoQueue(here.client, {
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: parked.arn, maxReceiveCount: 2 }),
    });
    await queue.send('a:1', 'a:2');
    for (let turn = 0; turn < 2; turn += 1) {
      const [first] = await queue.receive(1);
      if (first) await queue.hide(0, first);
    }
    expect(texts(await queue.receive())).toEqual(['a:2']);
    expect(texts(await parked.receive())).toEqual(['a:1']);
    expect(await queue.count()).toEqual({ visible: 0, held: 1 });
  });

  it('takes back at once what comes in for a receiver that has gone', async () => {
    const queue = await fifoQueue(here.client);
    const sockets: Socket[] = [];
    const note = (message: unknown): void => void sockets.push(Object(message).socket);
    subscribe('http.server.request.start', note);
    const { queue: prototype } = await fauxqsParts();
    const received = vi.spyOn(prototype, 'dequeueFifo');
    onTestFinished(() => {
      unsubscribe('http.server.request.start', note);
      received.mockRestore();
    });
    const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.ReceiveMessage' };
    const gone = request(here.sqs.url, { method: 'POST', headers });
    gone.on('error', () => {});
    gone.end(JSON.stringify({ QueueUrl: queue.url, WaitTimeSeconds: 20 }));
    await expect.poll(() => received.mock.calls.length).toBeGreaterThan(0);
    gone.destroy();
    await expect.poll(() => sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
    await queue.send('a:1');
    const [message] = await queue.receive(10, 2);
    expect(message).toMatchObject({ Body: 'a:1', Attributes: { ApproximateReceiveCount: '1' } });
  });
});
