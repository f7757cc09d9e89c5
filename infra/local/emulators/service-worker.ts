import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { RightsByKey } from '../iam/rights.ts';
import type { FromService, ToService } from './thread-messages.ts';

/** A service that runs in a thread of its own. */
export interface ServiceWorker {
  readonly url: string;
  readonly worker: Worker;
  tell(message: ToService): void;
  /** Resolves once it judges by them. @throws Error for a statement that cannot be judged */
  setRights(rights: RightsByKey): Promise<void>;
}

/**
 * Starts a thread that says where its service is.
 *
 * @param module its file, beside this one
 * @param onRefused told of each call that a function may not make
 */
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
    // As in `instance.ts`: what lives briefly is to take little room.
    resourceLimits: { maxYoungGenerationSizeMb: 12 },
  });
  /** Rights that were told, and not answered yet. */
  const told = new Map<number, PromiseWithResolvers<void>>();
  let count = 0;
  const started = Promise.withResolvers<string>();
  worker.on('message', (message: FromService) => {
    if ('url' in message) started.resolve(message.url);
    else if ('refused' in message) onRefused(message.refused);
    else if (message.unjudged === undefined) told.get(message.id)?.resolve();
    else told.get(message.id)?.reject(new Error(message.unjudged));
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
      count += 1;
      const [id, answered] = [count, Promise.withResolvers<void>()];
      told.set(id, answered);
      tell({ id, rights });
      // Nobody is judged by who is gone; what takes its place is told anew.
      await Promise.race([answered.promise, exited]);
      told.delete(id);
    },
  };
}
