import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Fault } from './forwarded-connection.ts';
import type { ForwarderThreadData, FromForwarders, Order, ToForwarders } from './forwarder-thread.ts';
import type { Forwarder, ForwarderOptions, Target } from './forwarder.ts';

/** A thread that takes longer has ended. */
const CARRIED_OUT_MS = 10_000;

interface ForwarderProcessOptions extends ForwarderOptions {
  readonly target: () => Target | undefined;
}

/** Shared by all forwarders of this process. */
let thread: ForwarderThread | undefined;

/** Opens a forwarder in a separate thread: in the stack's own, statements and the gateway would delay each other. */
export async function openForwarderProcess(options: ForwarderProcessOptions): Promise<Forwarder> {
  thread ??= startThread(() => (thread = undefined));
  return thread.open(options);
}

interface ForwarderThread {
  open(options: ForwarderProcessOptions): Promise<Forwarder>;
}

function startThread(ended: () => void): ForwarderThread {
  const done = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const targets = new Map<number, ForwarderProcessOptions['target']>();
  /** For the port of one that opens, or the end of one that closes. */
  const waiting = new Map<number, { resolve(port: number): void; reject(error: Error): void }>();
  let opened = 0;
  // The thread's failure is this process's failure.
  const worker = new Worker(new URL('forwarder-thread.ts', import.meta.url), {
    workerData: { done } satisfies ForwarderThreadData,
    execArgv: [],
    name: 'forwarders',
  });
  worker.on('message', hear);

  function tell(message: ToForwarders): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(message);
  }

  function hear(message: FromForwarders): void {
    const { id } = message;
    if (message.kind === 'ask') return tell({ kind: 'target', ask: message.ask, target: targets.get(id)?.() });
    if (message.kind === 'done') return waiting.get(id)?.resolve(message.port);
    const { message: text, code } = message;
    waiting.get(id)?.reject(Object.assign(new Error(text), code !== undefined && { code }));
  }

  function ask(message: Extract<ToForwarders, { kind: 'open' | 'close' }>): Promise<number> {
    return new Promise((resolve, reject) => {
      waiting.set(message.id, { resolve, reject });
      tell(message);
    });
  }

  /** Returns once the order is carried out. */
  function carryOut(id: number, order: Order, fault?: Fault): void {
    if (!targets.has(id)) return;
    const before = Atomics.load(done, 0);
    tell({ kind: 'order', id, order, fault });
    if (Atomics.wait(done, 0, before, CARRIED_OUT_MS) === 'timed-out')
      throw new Error(`the forwarders did not carry out ${order} within ${CARRIED_OUT_MS / 1000} s`);
  }

  /** The last forwarder ends the thread. */
  async function leave(id: number): Promise<void> {
    targets.delete(id);
    waiting.delete(id);
    if (targets.size > 0) return;
    ended();
    const exited = once(worker, 'exit');
    tell({ kind: 'end' });
    await exited;
  }

  return {
    async open({ host, port: wanted, target }) {
      opened += 1;
      const id = opened;
      targets.set(id, target);
      const port = await ask({ kind: 'open', id, host, port: wanted }).catch(async (error: unknown) => {
        await leave(id);
        throw error;
      });
      return {
        host,
        port,
        setFault: (fault) => carryOut(id, 'setFault', fault),
        dropConnections: () => carryOut(id, 'dropConnections'),
        forgetConnections: () => carryOut(id, 'forgetConnections'),
        async close() {
          if (!targets.has(id)) return;
          await ask({ kind: 'close', id });
          await leave(id);
        },
      };
    },
  };
}

const ATTEMPTS = 20;

type EndpointRequest = Omit<ForwarderProcessOptions, 'port'>;

/** Opens the forwarders on one port: the given one if it is free on every address, else another. */
export async function openOnOnePort(requests: readonly EndpointRequest[], port: number): Promise<readonly Forwarder[]> {
  for (let attempt = 1; ; attempt += 1) {
    const open: Forwarder[] = [];
    try {
      for (const desired of requests) {
        open.push(await openForwarderProcess({ ...desired, port: open[0]?.port ?? (attempt === 1 ? port : 0) }));
      }
      return open;
    } catch (error) {
      await Promise.all(open.map(async (forwarder) => await forwarder.close()));
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'EADDRNOTAVAIL') throw withoutAliases(requests, error);
      if (code !== 'EADDRINUSE' || attempt === ATTEMPTS) throw error;
    }
  }
}

/** macOS and BSD have 127.0.0.1 alone until aliases are added. */
function withoutAliases(requests: readonly EndpointRequest[], cause: unknown): Error {
  const hosts = requests.map(({ host }) => host).join(' ');
  return new Error(
    `this system lacks the loopback addresses ${hosts}, at which endpoints of servers listen. This adds them until its next start:\n  for host in ${hosts}; do sudo ifconfig lo0 alias $host up; done`,
    { cause },
  );
}
