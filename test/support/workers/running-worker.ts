import { Worker } from 'node:worker_threads';
import type { FromWorker } from './worker-side.ts';

/** A thread at work, as its parent sees it. */
export interface RunningWorker<Stop, Progress, Output> extends Disposable {
  /** Settled once everything is open: measurements exclude the time to load modules. */
  readonly ready: Promise<void>;
  /** Its last progress report. Throws the error that ended it. */
  readonly progress: Progress | undefined;
  /** Asks it to end, with a last word, and waits for its output. Rejects with the error that ended it. */
  stop(word: Stop): Promise<Output>;
}

/**
 * Starts a thread on a module that calls `runAsWorker`. Load generators and readers run in threads, so that no event
 * loop holds up more than its share of them.
 */
export function startWorker<Input, Stop, Progress, Output>(
  module: URL,
  input: Input,
): RunningWorker<Stop, Progress, Output> {
  const worker = new Worker(module, { workerData: input });
  let progress: Progress | undefined;
  let death: Error | undefined;
  const whenReady = Promise.withResolvers<void>();
  const output = new Promise<Output>((resolve, reject) => {
    worker.on('message', (message: FromWorker<Progress, Output>) => {
      if ('ready' in message) whenReady.resolve();
      else if ('progress' in message) progress = message.progress;
      else resolve(message.output);
    });
    worker.once('error', reject);
    worker.once('exit', (code) =>
      reject(new Error(`a thread on ${module.pathname} ended with ${code} and handed nothing over`)),
    );
  });
  // It may die long before a caller awaits its output.
  output.catch((error: Error) => {
    death = error;
    whenReady.reject(error);
  });
  whenReady.promise.catch(() => undefined);
  return {
    ready: whenReady.promise,
    get progress() {
      if (death) throw death;
      return progress;
    },
    async stop(word) {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage(word);
      return output;
    },
    [Symbol.dispose]: () => void worker.terminate(),
  };
}
