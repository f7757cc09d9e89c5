import { SqlError, type SqlClient } from '../../../shared/sql/client.ts';

export interface BlamingClient extends SqlClient {
  /** Treats the node as down until the next health check is due. */
  blame(): void;
}

/** The time that a circuit stays open. */
const OPEN_MS = 500;

/** A circuit that opens on any time limit, without a health check. */
export function blamingClient(client: SqlClient): BlamingClient {
  let openUntil = 0;
  const run = async <T>(statement: () => Promise<T>): Promise<T> => {
    if (performance.now() < openUntil) throw new SqlError('unreachable', 'the circuit is open');
    try {
      return await statement();
    } catch (error) {
      if (error instanceof SqlError && (error.timedOut || error.isLockWait)) blame();
      throw error;
    }
  };
  const blame = (): void => void (openUntil = performance.now() + OPEN_MS);
  return {
    ...client,
    // Readers are asked as usual.
    select: (statement, target) =>
      target === 'writer' ? run(() => client.select(statement, target)) : client.select(statement, target),
    change: (statement) => run(() => client.change(statement)),
    blame,
  };
}

export { blamingClient as wrap };
