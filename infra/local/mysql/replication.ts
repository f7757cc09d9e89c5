import type { Operator } from './operator.ts';

/** The writer that a reader is to follow. */
export interface ReplicationSource {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

/** How one engine replicates. A node's `executed` is the set of transactions that its own log holds, as text. */
export interface Replication {
  executed(node: Operator): Promise<string>;
  /** True when every transaction of `part` is in `whole`. Any node can be asked. */
  includes(node: Operator, whole: string, part: string): Promise<boolean>;
  /** Where a node's log ends, as text for `followUntil`. */
  position(node: Operator): Promise<string>;
  /**
   * As `follow`, from nothing and only up to a place of the writer's log. Returns when the node has exactly what the
   * writer had there, and follows nobody any more. Throws when it cannot, or when that takes longer.
   */
  followUntil(node: Operator, source: ReplicationSource, position: string, timeoutSeconds: number): Promise<void>;
  /** How far a set goes; of two nodes that followed the same writer, the one with more has the higher number. */
  size(executed: string): number;
  /** Stops following. What was received and not applied is given up. */
  leave(node: Operator): Promise<void>;
  /** Receives no more, applies what was received, then stops following. Throws when that takes longer. */
  finish(node: Operator, timeoutSeconds: number): Promise<void>;
  /** Follows a writer whose log includes everything that this node executed. Call `leave` first. */
  follow(node: Operator, source: ReplicationSource): Promise<void>;
  /** Follows nobody any more, logs under the server id given, and takes writes. */
  open(node: Operator, serverId: number): Promise<void>;
}
