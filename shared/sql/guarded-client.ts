import type { Role } from '../cell.ts';
import {
  breaker,
  BREAKER_SETTINGS,
  type Breaker,
  type BreakerSettings,
  type CircuitName,
  type SuspectedBy,
} from './breaker.ts';
import type { SqlClient, Statement, Target } from './client.ts';
import { ownStandstill, type Standstill } from './standstill.ts';

export interface GuardOptions {
  /** @default BREAKER_SETTINGS, for those left out */
  readonly settings?: Partial<BreakerSettings>;
  /** When the process that asks stood still. @default this thread's own watch */
  readonly standstill?: Standstill;
  /** A circuit of this client opened. @default nobody is told */
  readonly onOpen?: (role: Role, suspectedBy: SuspectedBy) => void;
}

/**
 * A group's client behind circuit breakers: one for its writer, one for its readers, one for each node asked by itself.
 */
export interface GuardedClient extends SqlClient {
  circuit(role: Role): CircuitName;
  /** Somebody else found a role down: its circuit opens unless a sign of life comes, which statements wait for. */
  doubt(role: Role): void;
}

/** What a group's client is put behind when it is opened; `onOpen` is to be told of its circuits. */
export type Guard = (client: SqlClient, group: string, onOpen: Required<GuardOptions>['onOpen']) => GuardedClient;

/** Circuit breakers as the way to MySQL wants them. @param settings @default BREAKER_SETTINGS, for those left out */
export function guardWith(settings: Partial<BreakerSettings> = {}): Guard {
  return (client, group, onOpen) => guardedClient(client, group, { settings, onOpen });
}

const SIGN_OF_LIFE: Statement = { sql: 'SELECT 1', parameters: [] };
/**
 * Asked in two ways: where a machine is too busy to open a connection in time, one that is open and free may be
 * answered on.
 */
const WAYS: readonly Statement[] = [{ ...SIGN_OF_LIFE, apart: true }, SIGN_OF_LIFE];

/**
 * Puts circuit breakers round one group's client. After a time limit that passed, or a few other failures in a row, a
 * role is asked for a sign of life, on a connection of its own too. If none comes, statements to it fail at once with
 * `unreachable` until one does: whoever asks goes on to the other role, or to a secondary, without waiting for the same
 * again.
 */
export function guardedClient(
  client: SqlClient,
  group: string,
  { settings, standstill = ownStandstill(), onOpen = () => undefined }: GuardOptions = {},
): GuardedClient {
  const breakers = new Map<string, Breaker>();

  function breakerOf(target: Target): Breaker {
    const name = typeof target === 'string' ? target : `node ${target.node}`;
    const known = breakers.get(name);
    if (known) return known;
    const made = breaker({
      name: `${group}, ${name}`,
      probe: () => Promise.any(WAYS.map((statement) => client.select(statement, target))),
      settings: { ...BREAKER_SETTINGS, ...settings },
      standstill,
      onOpen: (suspectedBy) => {
        if (typeof target === 'string') onOpen(target, suspectedBy);
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
    doubt: (role) => breakerOf(role).doubt(),
    close: () => client.close(),
  };
}
