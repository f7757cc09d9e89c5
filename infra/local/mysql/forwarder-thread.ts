/** Runs a stack's forwarders in their own thread. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Fault } from './forwarded-connection.ts';
import { openForwarder, type Forwarder, type Target } from './forwarder.ts';

export interface ForwarderThreadData {
  readonly done: Int32Array;
}

/** The methods of a forwarder that the caller waits for, blocked. */
export type Order = 'setFault' | 'dropConnections' | 'forgetConnections';

/** To the forwarders' thread; `id` is a forwarder's. */
export type ToForwarders =
  | { readonly kind: 'open'; readonly id: number; readonly host: string; readonly port: number }
  | { readonly kind: 'order'; readonly id: number; readonly order: Order; readonly fault: Fault | undefined }
  | { readonly kind: 'close'; readonly id: number }
  | { readonly kind: 'end' }
  /** The target of a new connection. */
  | { readonly kind: 'target'; readonly ask: number; readonly target: Target | undefined };

export type FromForwarders =
  | { readonly kind: 'done'; readonly id: number; readonly port: number }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string; readonly code: string | undefined }
  | { readonly kind: 'ask'; readonly id: number; readonly ask: number };

const { done } = workerData as ForwarderThreadData;
const forwarders = new Map<number, Forwarder>();
const asking = new Map<number, (target: Target | undefined) => void>();
let asked = 0;

parentPort?.on('message', (message: ToForwarders) => {
  switch (message.kind) {
    case 'open':
      return void open(message);
    case 'close':
      return void close(message.id);
    case 'end':
      return void parentPort?.close();
    case 'target':
      asking.get(message.ask)?.(message.target);
      return void asking.delete(message.ask);
    default:
      forwarders.get(message.id)?.[message.order](message.fault);
      // The caller waits for this.
      Atomics.add(done, 0, 1);
      Atomics.notify(done, 0);
  }
});

function tell(message: FromForwarders): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(message);
}

async function open({ id, host, port }: Extract<ToForwarders, { kind: 'open' }>): Promise<void> {
  const target = (): Promise<Target | undefined> =>
    new Promise((resolve) => {
      asked += 1;
      asking.set(asked, resolve);
      tell({ kind: 'ask', id, ask: asked });
    });
  try {
    const forwarder = await openForwarder({ host, port, target });
    forwarders.set(id, forwarder);
    tell({ kind: 'done', id, port: forwarder.port });
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    tell({ kind: 'failed', id, message, code });
  }
}

async function close(id: number): Promise<void> {
  const forwarder = forwarders.get(id);
  await forwarder?.close();
  forwarders.delete(id);
  tell({ kind: 'done', id, port: forwarder?.port ?? 0 });
}
