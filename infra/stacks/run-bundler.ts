import {
  MessageChannel,
  receiveMessageOnPort,
  Worker,
  isMainThread,
  workerData,
  type MessagePort,
} from 'node:worker_threads';
import { build, type BuildOptions, type Metafile } from 'esbuild';
import { replacedModules } from './replaced-modules.ts';

interface Bundled {
  readonly metafile: Metafile;
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

interface Order {
  readonly options: BuildOptions;
  readonly proxy: boolean;
  readonly done: SharedArrayBuffer;
  readonly port: MessagePort;
}

/**
 * Runs esbuild, and waits: the CDK synthesizes synchronously, and esbuild takes plugins only asynchronously, so that it
 * runs in a thread. Throws esbuild's error.
 */
export function runBundler(options: BuildOptions, proxy: boolean): Bundled {
  const { port1, port2 } = new MessageChannel();
  const done = new SharedArrayBuffer(4);
  const order: Order = { options, proxy, done, port: port2 };
  const worker = new Worker(import.meta.filename, { workerData: order, transferList: [port2] });
  try {
    Atomics.wait(new Int32Array(done), 0, 0);
    const { message } = receiveMessageOnPort(port1) as { readonly message: Bundled | { readonly error: Error } };
    if ('error' in message) throw message.error;
    return message;
  } finally {
    port1.close();
    void worker.terminate();
  }
}

async function bundle({ options, proxy }: Order): Promise<Bundled> {
  const { outputFiles = [], metafile } = await build({
    ...options,
    write: false,
    metafile: true,
    plugins: [replacedModules(proxy)],
  });
  return { metafile: metafile as Metafile, files: outputFiles.map(({ path, text }) => ({ path, text })) };
}

if (!isMainThread) {
  const order = workerData as Order;
  const answer = await bundle(order).catch((error: unknown) => ({ error }));
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  order.port.postMessage(answer);
  Atomics.store(new Int32Array(order.done), 0, 1);
  Atomics.notify(new Int32Array(order.done), 0);
}
