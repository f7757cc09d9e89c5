import { setTimeout as sleep } from 'node:timers/promises';
import { type Operator, type OperatorRow, textOf } from './operator.ts';

export interface ReplicationSource {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

/** How one engine replicates. `executed` is the set of transactions in a node's own log, as text. */
export interface Replication {
  readonly words: Words;
  executed(node: Operator): Promise<string>;
  /** True if `whole` has every transaction of `part`. Any node can answer. */
  includes(node: Operator, whole: string, part: string): Promise<boolean>;
  position(node: Operator): Promise<string>;
  /** Replays the writer's log up to a position, then stops following. Throws if it cannot in time. */
  followUntil(node: Operator, source: ReplicationSource, position: string, timeoutSeconds: number): Promise<void>;
  /** Grows with the set, among nodes that followed the same writer. */
  size(executed: string): number;
  /** Follows a writer whose log includes all of this node's. Call `stopFollowing` first. */
  follow(node: Operator, source: ReplicationSource): Promise<void>;
  /** Stops following, logs under the server id, and takes writes. */
  open(node: Operator, serverId: number): Promise<void>;
}

/** An engine's names for the parts of its replication. */
interface Words {
  readonly replica: 'REPLICA' | 'SLAVE';
  /** The column of the status with what was received. */
  readonly received: string;
  /** The function that waits until a set is applied. */
  readonly wait: string;
}

/** Stops following, and drops what was received but not applied. */
export async function stopFollowing({ words }: Replication, node: Operator): Promise<void> {
  await node.run(`STOP ${words.replica}`);
}

/** Stops receiving, applies what was received, and stops following. Throws if that takes longer. */
export async function finish({ words }: Replication, node: Operator, timeoutSeconds: number): Promise<void> {
  const { replica, received: column, wait } = words;
  const status = await node.run(`SHOW ${replica} STATUS`);
  if (status.length === 0) return;
  await node.run(`STOP ${replica} IO_THREAD`);
  await node.run(`START ${replica} SQL_THREAD`);
  const received = textOf(await node.run(`SHOW ${replica} STATUS`), column).replaceAll(/\s/g, '');
  if (received !== '') {
    const sql = `SELECT ${wait}(?, ${timeoutSeconds}) AS failed`;
    const failed = textOf(await node.run(sql, [received], (timeoutSeconds + 5) * 1000), 'failed');
    if (failed !== '0') throw new Error(`what was received is not applied after ${timeoutSeconds} s`);
  }
  await node.run(`STOP ${replica}`);
}

const POLL_MS = 100;

/** Waits until a followed log is applied, then stops following. Throws what the check throws, or after the time. */
export async function followUntilApplied(
  node: Operator,
  replica: Words['replica'],
  timeoutSeconds: number,
  isApplied: (status: readonly OperatorRow[]) => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + timeoutSeconds * 1000;
  for (;;) {
    const status = await node.run(`SHOW ${replica} STATUS`);
    const error = textOf(status, 'Last_SQL_Error') || textOf(status, 'Last_IO_Error');
    if (error !== '') throw new Error(`the log could not be applied: ${error}`);
    if (await isApplied(status)) break;
    if (performance.now() > deadline) throw new Error(`the log is not applied after ${timeoutSeconds} s`);
    await sleep(POLL_MS);
  }
  await leaveForGood(node, replica);
}

export async function leaveForGood(node: Operator, replica: Words['replica']): Promise<void> {
  await node.run(`STOP ${replica}`);
  await node.run(`RESET ${replica} ALL`);
}
