/** Runs a stack's forwarders in their own thread. */
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { callsOver } from '../thread-calls.ts';
import type { Fault } from './forwarded-connection.ts';
import { openForwarder, type Forwarder, type Target } from './forwarder.ts';

/** The methods of a forwarder that the caller waits for, blocked. */
export type Order = 'setFault' | 'dropConnections' | 'forgetConnections';

const owner = parentPort as MessagePort;
const done = workerData as Int32Array;
const forwarders = new Map<number, Forwarder>();

/** By the number of a forwarder. */
const calls = {
  async open(id: number, host: string, port: number): Promise<number> {
    const forwarder = await openForwarder({
      host,
      port,
      target: () => call('target', id),
      judge: (user, token) => call('judge', id, user, token),
    });
    forwarders.set(id, forwarder);
    return forwarder.port;
  },
  carryOut(id: number, order: Order, fault: Fault | undefined): void {
    forwarders.get(id)?.[order](fault);
    // The caller waits for this.
    Atomics.add(done, 0, 1);
    Atomics.notify(done, 0);
  },
  async close(id: number): Promise<void> {
    await forwarders.get(id)?.close();
    forwarders.delete(id);
  },
  end: (): void => owner.close(),
};
export type ForwarderCalls = typeof calls;

interface OwnersCalls extends Readonly<Record<string, (...given: never[]) => unknown>> {
  target(id: number): Target | undefined;
  judge(id: number, user: string, token: string): string | undefined;
}
const call = callsOver<OwnersCalls>(owner, calls);
