import type { Operator } from './operator.ts';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ReplicationSource {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

/** How one engine replicates. `executed` is the set of transactions in a node's own log, as text. */
export interface Replication {
  executed(node: Operator): Promise<string>;
  /** True if `whole` has every transaction of `part`. Any node can answer. */
  includes(node: Operator, whole: string, part: string): Promise<boolean>;
  position(node: Operator): Promise<string>;
  /** Replays the writer's log up to a position, then stops following. Throws if it cannot in time. */
  followUntil(node: Operator, source: ReplicationSource, position: string, timeoutSeconds: number): Promise<void>;
  /** Grows with the set, among nodes that followed the same writer. */
  size(executed: string): number;
  /** Stops following, and drops what was received but not applied. */
  leave(node: Operator): Promise<void>;
  /** Stops receiving, applies what was received, and stops following. Throws if that takes longer. */
  finish(node: Operator, timeoutSeconds: number): Promise<void>;
  /** Follows a writer whose log includes all of this node's. Call `leave` first. */
  follow(node: Operator, source: ReplicationSource): Promise<void>;
  /** Stops following, logs under the server id, and takes writes. */
  open(node: Operator, serverId: number): Promise<void>;
}

const POLL_MS = 100;

/** Waits until a log is applied. Throws what the check throws, or after the time. */
export async function untilApplied(timeoutSeconds: number, isApplied: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + timeoutSeconds * 1000;
  while (!(await isApplied())) {
    if (performance.now() > deadline) throw new Error(`the log is not applied after ${timeoutSeconds} s`);
    await sleep(POLL_MS);
  }
}
