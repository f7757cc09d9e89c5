import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { readRights, type RightsByKey } from '../iam/rights.ts';
import type { FromService, ToService } from './serve-thread.ts';

export interface ServiceWorker {
  readonly url: string;
  readonly worker: Worker;
  tell(message: ToService): void;
  /** Resolves once the service judges by them. Throws an Error for a statement that cannot be judged. */
  setRights(rights: RightsByKey): Promise<void>;
}

/** Starts a thread that reports where its service is. */
export async function startServiceWorker(
  module: string,
  name: string,
  workerData: object,
  onRefused: (why: string) => void,
): Promise<ServiceWorker> {
  const worker = new Worker(new URL(module, import.meta.url), {
    workerData,
    execArgv: [],
    name,
    // As in `instance.ts`.
    resourceLimits: { maxYoungGenerationSizeMb: 12 },
  });
  const told = new Map<number, () => void>();
  let count = 0;
  const started = Promise.withResolvers<string>();
  worker.on('message', (message: FromService) => {
    if ('url' in message) started.resolve(message.url);
    else if ('refused' in message) onRefused(message.refused);
    else told.get(message.judgedBy)?.();
  });
  const exited = once(worker, 'exit');
  const url = await Promise.race([
    started.promise,
    exited.then(() => {
      throw new Error(`${name} did not start`);
    }),
  ]);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  const tell = (message: ToService): void => worker.postMessage(message);
  return {
    url,
    worker,
    tell,
    async setRights(rights) {
      readRights(rights);
      count += 1;
      const [id, { promise, resolve }] = [count, Promise.withResolvers<void>()];
      told.set(id, resolve);
      tell({ id, rights });
      // A service that has ended judges nothing; its successor gets the rights at its start.
      await Promise.race([promise, exited]);
      told.delete(id);
    },
  };
}
