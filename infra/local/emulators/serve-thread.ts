import { parentPort, type MessagePort } from 'node:worker_threads';
import type { Login } from '../data-api/connections.ts';
import type { RightsByKey } from '../iam/rights.ts';
import { callsOver } from '../thread-calls.ts';

/** A cluster of the RDS Data API, with the owner's login. */
export interface ServedCluster extends Login {
  readonly resourceArn: string;
}

/** The calls that a thread's service takes. */
export type ServiceCalls = {
  setRights(rights: RightsByKey): unknown;
  /** Of the RDS Data API. */
  setClusters(clusters: readonly ServedCluster[]): void;
  close(): Promise<unknown>;
};

/** Starts this thread's service, reports where it is, and serves until it is closed. */
export async function serveThread(
  start: (onRefused: (why: string) => void) => Promise<{ readonly url: string } & Partial<ServiceCalls>>,
): Promise<void> {
  const owner = parentPort as MessagePort;
  const calls: Partial<ServiceCalls> = {};
  const call = callsOver<Record<'started' | 'refused', (text: string) => void>>(owner, calls);
  const { url, close, ...service } = await start((why) => void call('refused', why));
  Object.assign(calls, service, { close: async () => close?.().then(() => owner.close()) });
  void call('started', url);
}
