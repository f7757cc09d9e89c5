import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { callsOver } from '../thread-calls.ts';
import type { Fault } from './forwarded-connection.ts';
import type { ForwarderCalls, Order } from './forwarder-thread.ts';
import type { Forwarder, ForwarderOptions, Target } from './forwarder.ts';

/** A thread that takes longer has ended. */
const CARRIED_OUT_MS = 10_000;

interface ForwarderProcessOptions extends ForwarderOptions {
  readonly target: () => Target | undefined;
}

/** Shared by all forwarders of this process. */
let thread: ReturnType<typeof startThread> | undefined;

/** Opens a forwarder in a separate thread: in the stack's own, statements and the gateway would delay each other. */
export async function openForwarderProcess(options: ForwarderProcessOptions): Promise<Forwarder> {
  thread ??= startThread(() => (thread = undefined));
  return thread.open(options);
}

function startThread(ended: () => void): { open(options: ForwarderProcessOptions): Promise<Forwarder> } {
  const done = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const targets = new Map<number, Pick<ForwarderProcessOptions, 'target' | 'judge'>>();
  let opened = 0;
  // The thread's failure is this process's failure.
  const worker = new Worker(new URL('forwarder-thread.ts', import.meta.url), {
    workerData: done,
    execArgv: [],
    name: 'forwarders',
  });
  const call = callsOver<ForwarderCalls>(worker, {
    target: (id: number) => targets.get(id)?.target(),
    judge: (id: number, user: string, token: string) => targets.get(id)?.judge?.(user, token),
  });

  /** Returns once the order is carried out. */
  function carryOut(id: number, order: Order, fault?: Fault): void {
    if (!targets.has(id)) return;
    const before = Atomics.load(done, 0);
    void call('carryOut', id, order, fault);
    if (Atomics.wait(done, 0, before, CARRIED_OUT_MS) === 'timed-out')
      throw new Error(`the forwarders did not carry out ${order} within ${CARRIED_OUT_MS / 1000} s`);
  }

  /** The last forwarder ends the thread. */
  async function leave(id: number): Promise<void> {
    targets.delete(id);
    if (targets.size > 0) return;
    ended();
    const exited = once(worker, 'exit');
    void call('end');
    await exited;
  }

  return {
    async open({ host, port: wanted, target, judge }) {
      opened += 1;
      const id = opened;
      targets.set(id, { target, ...(judge && { judge }) });
      const port = await call('open', id, host, wanted).catch(async (error: unknown) => {
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
          await call('close', id);
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
