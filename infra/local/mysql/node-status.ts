/** Every server listens here alone. */
export const SERVER_HOST = '127.0.0.1';

export type NodeRole = 'writer' | 'reader';

/**
 * - `starting`: its process is coming up, or it was rebuilt and has not caught up with the writer yet.
 * - `paused`: its process is stopped by a signal, and answers nothing.
 */
export type NodeState = 'running' | 'paused' | 'down' | 'starting';

/** One server process of a group, as it is now. */
export interface NodeStatus {
  readonly group: string;
  readonly node: string;
  readonly role: NodeRole;
  /** The server's own address, not its forwarder's. */
  readonly host: string;
  /** 0 when it has never run. */
  readonly port: number;
  /** 0 when there is no process. */
  readonly pid: number;
  readonly state: NodeState;
}

/** `group-1-a`, `group-1-b`, … */
export function nodeName(group: string, nth: number): string {
  return `${group}-${String.fromCharCode('a'.charCodeAt(0) + nth)}`;
}
