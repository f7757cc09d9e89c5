import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import type { Service, ServiceName } from '../../../../infra/local/emulators/emulator.ts';
import { startService } from '../../../../infra/local/emulators/start-service.ts';
import { fifoQueue, sqsClient, texts, type FifoQueue } from '../../support/fifo-queue.ts';
import { dynamoAt, makeTable } from './emulated-table.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const SERVE = fileURLToPath(new URL('../../support/serve-sqs.ts', import.meta.url));

async function withService(name: ServiceName, folder: string, use: (service: Service) => Promise<void>): Promise<void> {
  const service = await startService(name, folder);
  try {
    await use(service);
  } finally {
    await service.close();
  }
}

async function withQueue(url: string, use: (queue: FifoQueue) => Promise<void>): Promise<void> {
  const client = sqsClient(url);
  try {
    await use(await fifoQueue(client, {}, 'cells.fifo'));
  } finally {
    client.destroy();
  }
}

describe('a service that is unavailable for a while', () => {
  it('answers no request, then continues at the same address with all messages, held ones still held', async () => {
    using folder = temporaryFolder();
    await withService('sqs', folder.path, async (service) => {
      await withQueue(service.url, async (queue) => {
        await queue.send('a:1', 'a:2', 'a:3', 'b:1');
        const [first] = await queue.receive(1);
        await service.kill();
        await expect(queue.count()).rejects.toThrow(/ECONNREFUSED|ECONNRESET|socket hang up/u);
        await expect(service.kill()).rejects.toThrow('sqs is away already');
        await service.resume();
        await expect(service.resume()).rejects.toThrow('sqs is not away');
        expect(await queue.count()).toEqual({ visible: 3, held: 1 });
        expect(texts(await queue.receive())).toEqual(['b:1']);
        if (first) await queue.hide(0, first);
        expect(texts(await queue.receive())).toEqual(['a:1', 'a:2', 'a:3']);
      });
    });
  });

  it('keeps tables and items', async () => {
    using folder = temporaryFolder();
    await withService('dynamodb', folder.path, async (service) => {
      const client = dynamoAt(service.url);
      const item = { pk: { S: 'lease' }, owner: { S: 'me' } };
      await makeTable(client);
      await client.send(new PutItemCommand({ TableName: 'state', Item: item }));
      await service.kill();
      const get = () => client.send(new GetItemCommand({ TableName: 'state', Key: { pk: item.pk } }));
      await expect(get()).rejects.toThrow(/ECONNREFUSED|ECONNRESET|socket hang up/u);
      await service.resume();
      expect((await get()).Item).toEqual(item);
      client.destroy();
    });
  });
});

describe('queues whose stack was killed', () => {
  it('are there at the next start, with every message in its order, none of them held', async () => {
    using folder = temporaryFolder();
    const stack = spawn(process.execPath, [SERVE, folder.path], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [url] = await once(stack.stdout, 'data');
    await withQueue(String(url), async (queue) => {
      await queue.send('a:1', 'a:2', 'a:3', 'a:4');
      const [first] = await queue.receive(3);
      if (first) await queue.delete(first);
      stack.kill('SIGKILL');
      await once(stack, 'exit');
    });
    await withService('sqs', folder.path, async (service) => {
      await withQueue(service.url, async (queue) => {
        const messages = await queue.receive();
        expect(texts(messages)).toEqual(['a:2', 'a:3', 'a:4']);
        expect(messages.map(({ Attributes }) => Attributes?.['ApproximateReceiveCount'])).toEqual(['2', '2', '1']);
      });
    });
  });
});
