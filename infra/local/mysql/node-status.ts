export const SERVER_HOST = '127.0.0.1';

export type NodeRole = 'writer' | 'reader';

/** `starting`: its process starts, or it has not caught up after a rebuild. `paused`: stopped by a signal. */
export type NodeState = 'running' | 'paused' | 'down' | 'starting';

export interface NodeStatus {
  readonly group: string;
  readonly node: string;
  readonly role: NodeRole;
  /** The server's own address, not its forwarder's; the port is 0 before its first start, the pid without a process. */
  readonly host: string;
  readonly port: number;
  readonly pid: number;
  readonly state: NodeState;
}

export function nodeName(group: string, nth: number): string {
  return `${group}-${String.fromCharCode('a'.charCodeAt(0) + nth)}`;
}

/** A server's memory and disk; guarantees are the same. `small`: six of them on a laptop. `full`: for measurements. */
export type ServerSize = 'small' | 'full';

export const SERVER_SIZES = ['small', 'full'] as const satisfies readonly ServerSize[];
