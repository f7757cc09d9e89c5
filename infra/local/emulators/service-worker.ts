import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { readRights, type RightsByKey } from '../iam/rights.ts';
import { callsOver } from '../thread-calls.ts';
import type { ServiceCalls } from './serve-thread.ts';

export type ServiceWorker = Awaited<ReturnType<typeof startServiceWorker>>;

/** Starts a thread that reports where its service is. */
export async function startServiceWorker(
  module: string,
  name: string,
  workerData: object,
  onRefused: (why: string) => void,
) {
  const worker = new Worker(new URL(module, import.meta.url), {
    workerData,
    execArgv: [],
    name,
    // As in `instance.ts`.
    resourceLimits: { maxYoungGenerationSizeMb: 12 },
  });
  const started = Promise.withResolvers<string>();
  const call = callsOver<ServiceCalls>(worker, { started: started.resolve, refused: onRefused });
  const exited = once(worker, 'exit');
  const notStarted = exited.then(() => {
    throw new Error(`${name} did not start`);
  });
  return {
    url: await Promise.race([started.promise, notStarted]),
    worker,
    call,
    /** Resolves once the service judges by them. Throws an Error for a statement that cannot be judged. */
    async setRights(rights: RightsByKey): Promise<void> {
      readRights(rights);
      // A service that has ended judges nothing; its successor gets the rights at its start.
      await Promise.race([call('setRights', rights), exited]);
    },
  };
}
