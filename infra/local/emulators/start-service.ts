import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Service, ServiceName } from './emulator.ts';
import type { ServiceThreadData } from './service-thread.ts';

/** How long one that was asked to stop may take to write what it has. */
const STOP_MS = 5000;

/**
 * Starts an emulator in a thread of its own: in the stack's own thread, where every request passes, a round of
 * offsets committed to DynamoDB held up every request for tens of milliseconds.
 *
 * @param folder where its data is
 */
export async function startService(name: ServiceName, folder: string): Promise<Service> {
  let { worker, url } = await startThread({ name, folder, port: 0, isFirst: true });
  const port = Number(new URL(url).port);
  let isServing = true;
  return {
    url,
    async kill() {
      if (!isServing) throw new Error(`${name} is away already`);
      isServing = false;
      await worker.terminate();
    },
    async resume() {
      if (isServing) throw new Error(`${name} is not away`);
      ({ worker } = await startThread({ name, folder, port, isFirst: false }));
      isServing = true;
    },
    async close() {
      if (!isServing) return;
      isServing = false;
      const exited = once(worker, 'exit');
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage('stop');
      const timer = setTimeout(() => void worker.terminate(), STOP_MS);
      await exited;
      clearTimeout(timer);
    },
  };
}

async function startThread(workerData: ServiceThreadData): Promise<{ worker: Worker; url: string }> {
  const worker = new Worker(new URL('service-thread.ts', import.meta.url), {
    workerData,
    execArgv: [],
    name: workerData.name,
    // As in `instance.ts`: what lives briefly is to take little room.
    resourceLimits: { maxYoungGenerationSizeMb: 12 },
  });
  const [url] = (await Promise.race([
    once(worker, 'message'),
    once(worker, 'exit').then(() => {
      throw new Error(`${workerData.name} did not start`);
    }),
  ])) as [string];
  return { worker, url };
}
