import { parentPort, workerData } from 'node:worker_threads';

export type FromWorker<Progress, Output> =
  | { readonly ready: true }
  | { readonly progress: Progress }
  | { readonly output: Output };

/** The controls of a thread's work. */
export interface WorkerControl<Stop, Progress> {
  /** The last word of its parent; undefined while it must continue. */
  readonly stopped: Stop | undefined;
  /** Reports that everything is open and the work begins. */
  ready(): void;
  say(progress: Progress): void;
}

/** The one call of a thread's module: does the work, hands over its result, and ends. */
export async function runAsWorker<Input, Stop, Progress, Output>(
  work: (input: Input, control: WorkerControl<Stop, Progress>) => Promise<Output>,
): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error('this module is run as a thread');
  let stopped: Stop | undefined;
  port.on('message', (word: Stop) => {
    stopped = word;
  });
  const output = await work(workerData as Input, {
    get stopped() {
      return stopped;
    },
    ready: () => port.postMessage({ ready: true }),
    say: (progress) => port.postMessage({ progress }),
  });
  port.postMessage({ output });
  port.close();
}
