import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { checkFault, type Fault } from './forwarded-connection.ts';
import type { ForwarderThreadData, FromForwarders, Order, ToForwarders } from './forwarder-thread.ts';
import type { Forwarder, ForwarderOptions, Target } from './forwarder.ts';

/** A thread that takes longer has ended. */
const CARRIED_OUT_MS = 10_000;

interface ApartOptions extends ForwarderOptions {
  readonly target: () => Target | undefined;
}

/** Shared by all forwarders of this process. */
let thread: ForwarderThread | undefined;

/** Opens a forwarder in a separate thread: in the stack's own, statements and the gateway would delay each other. */
export async function openForwarderApart(options: ApartOptions): Promise<Forwarder> {
  thread ??= new ForwarderThread(() => (thread = undefined));
  return thread.open(options);
}

class ForwarderThread {
  readonly #worker: Worker;
  readonly #done = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #targets = new Map<number, ApartOptions['target']>();
  /** For the port of one that opens, or the end of one that closes. */
  readonly #waiting = new Map<number, PromiseWithResolvers<number>>();
  readonly #ended: () => void;
  #opened = 0;

  constructor(ended: () => void) {
    this.#ended = ended;
    this.#worker = new Worker(new URL('forwarder-thread.ts', import.meta.url), {
      workerData: { done: this.#done } satisfies ForwarderThreadData,
      execArgv: [],
      name: 'forwarders',
    });
    // The thread's failure is this process's failure.
    this.#worker.on('message', (message: FromForwarders) => this.#hear(message));
  }

  async open({ host, port, target }: ApartOptions): Promise<Forwarder> {
    this.#opened += 1;
    const id = this.#opened;
    this.#targets.set(id, target);
    try {
      return this.#forwarder(id, host, await this.#ask({ kind: 'open', id, host, port }));
    } catch (error) {
      await this.#leave(id);
      throw error;
    }
  }

  #forwarder(id: number, host: string, port: number): Forwarder {
    return {
      host,
      port,
      setFault: (fault) => {
        if (fault !== undefined) checkFault(fault);
        this.#carryOut(id, 'setFault', fault);
      },
      dropConnections: () => this.#carryOut(id, 'dropConnections'),
      forgetConnections: () => this.#carryOut(id, 'forgetConnections'),
      close: async () => {
        if (!this.#targets.has(id)) return;
        await this.#ask({ kind: 'close', id });
        await this.#leave(id);
      },
    };
  }

  #ask(message: Extract<ToForwarders, { kind: 'open' | 'close' }>): Promise<number> {
    const waiting = Promise.withResolvers<number>();
    this.#waiting.set(message.id, waiting);
    this.#tell(message);
    return waiting.promise;
  }

  /** Returns once the order is carried out. */
  #carryOut(id: number, order: Order, fault?: Fault): void {
    if (!this.#targets.has(id)) return;
    const before = Atomics.load(this.#done, 0);
    this.#tell({ kind: 'order', id, order, fault });
    if (Atomics.wait(this.#done, 0, before, CARRIED_OUT_MS) === 'timed-out')
      throw new Error(`the forwarders did not carry out ${order} within ${CARRIED_OUT_MS / 1000} s`);
  }

  #hear(message: FromForwarders): void {
    if (message.kind === 'ask')
      return this.#tell({ kind: 'target', ask: message.ask, target: this.#targets.get(message.id)?.() });
    const waiting = this.#waiting.get(message.id);
    if (message.kind === 'done') return waiting?.resolve(message.port);
    waiting?.reject(Object.assign(new Error(message.message), message.code !== undefined && { code: message.code }));
  }

  /** The last forwarder ends the thread. */
  async #leave(id: number): Promise<void> {
    this.#targets.delete(id);
    this.#waiting.delete(id);
    if (this.#targets.size > 0) return;
    this.#ended();
    const ended = once(this.#worker, 'exit');
    this.#tell({ kind: 'end' });
    await ended;
  }

  #tell(message: ToForwarders): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker.postMessage(message);
  }
}

const ATTEMPTS = 20;

type EndpointWish = Omit<ApartOptions, 'port'>;

/** Opens the forwarders on one port: the given one if it is free on every address, else another. */
export async function openOnOnePort(wishes: readonly EndpointWish[], port: number): Promise<readonly Forwarder[]> {
  for (let attempt = 1; ; attempt += 1) {
    const open: Forwarder[] = [];
    try {
      for (const wish of wishes) {
        open.push(await openForwarderApart({ ...wish, port: open[0]?.port ?? (attempt === 1 ? port : 0) }));
      }
      return open;
    } catch (error) {
      await Promise.all(open.map(async (forwarder) => await forwarder.close()));
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'EADDRNOTAVAIL') throw withoutAliases(wishes, error);
      if (code !== 'EADDRINUSE' || attempt === ATTEMPTS) throw error;
    }
  }
}

/** macOS and BSD have 127.0.0.1 alone until aliases are added. */
function withoutAliases(wishes: readonly EndpointWish[], cause: unknown): Error {
  const hosts = wishes.map(({ host }) => host).join(' ');
  return new Error(
    `this system has no loopback addresses ${hosts}, at which endpoints of servers are to listen; until its next start it has them after\n  for host in ${hosts}; do sudo ifconfig lo0 alias $host up; done`,
    { cause },
  );
}
