import type { Role } from '../cell.ts';
import { breaker, BREAKER_SETTINGS, type Breaker, type BreakerSettings, type CircuitName } from './breaker.ts';
import type { SqlClient, Statement, Target } from './client.ts';

export interface GuardOptions {
  /** @default BREAKER_SETTINGS, for those left out */
  readonly settings?: Partial<BreakerSettings>;
  /** A circuit of this client opened. @default nobody is told */
  readonly onTrip?: (role: Role) => void;
}

/** A group's client behind circuit breakers: one for its writer, one for its readers, one for each node asked by itself. */
export interface GuardedClient extends SqlClient {
  circuit(role: Role): CircuitName;
  /** Opens the circuit of a role that somebody else found down. */
  trip(role: Role): void;
}

const SIGN_OF_LIFE: Statement = { sql: 'SELECT 1', parameters: [] };

/**
 * Puts circuit breakers round one group's client. After one time limit that passed, or a few other failures in a row,
 * statements to that role fail at once with `unreachable` until a sign of life comes: whoever asks goes on to the other
 * role, or to a secondary, without waiting for the same again.
 */
export function guardedClient(client: SqlClient, group: string, { settings, onTrip = () => undefined }: GuardOptions = {}): GuardedClient {
  const breakers = new Map<string, Breaker>();

  function breakerOf(target: Target): Breaker {
    const name = typeof target === 'string' ? target : `node ${target.node}`;
    const known = breakers.get(name);
    if (known) return known;
    const made = breaker({
      name: `${group}, ${name}`,
      probe: () => client.select(SIGN_OF_LIFE, target),
      settings: { ...BREAKER_SETTINGS, ...settings },
      onTrip: () => {
        if (typeof target === 'string') onTrip(target);
      },
    });
    breakers.set(name, made);
    return made;
  }

  return {
    abilities: client.abilities,
    nodes: client.nodes,
    select: (statement, target) => breakerOf(target).run(() => client.select(statement, target)),
    change: (statement) => breakerOf('writer').run(() => client.change(statement)),
    circuit: (role) => breakerOf(role).state(),
    trip: (role) => breakerOf(role).trip(`${group}, ${role}: another instance found it down`),
    close: () => client.close(),
  };
}
