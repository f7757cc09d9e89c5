import { SqlError, type SqlClient, type Statement, type Target } from '../../shared/sql/client.ts';

/**
 * How a group behaves from now on.
 *
 * - `down`: nothing reaches it.
 * - `lost-answers`: statements are done, their answers lost.
 * - `writer-down`, `readers-down`: that role does not answer.
 */
type Behaviour = 'well' | 'down' | 'lost-answers' | 'writer-down' | 'readers-down';

export interface Faults {
  /** Of a group; `well` unless set. */
  readonly behaviours: Map<string, Behaviour>;
  /** Every statement sent, for counting. */
  readonly statements: { readonly group: string; readonly target: Target; readonly sql: string }[];
  wrap(client: SqlClient, group: string): SqlClient;
}

/** Wraps the clients of the store's groups, and lets them fail on a test's request. */
export function faults(): Faults {
  const behaviours = new Map<string, Behaviour>();
  const statements: { group: string; target: Target; sql: string }[] = [];

  async function through<T>(group: string, target: Target, statement: Statement, run: () => Promise<T>): Promise<T> {
    const behaviour = behaviours.get(group) ?? 'well';
    statements.push({ group, target, sql: statement.sql });
    const unreachable =
      behaviour === 'down' ||
      (behaviour === 'writer-down' && target === 'writer') ||
      (behaviour === 'readers-down' && target !== 'writer');
    if (unreachable) throw new SqlError('unreachable', `${group} is ${behaviour}`);
    const result = await run();
    if (behaviour === 'lost-answers') throw new SqlError('unclear', 'the answer was lost');
    return result;
  }

  return {
    behaviours,
    statements,
    wrap: (client, group) => ({
      ...client,
      select: (statement, target) => through(group, target, statement, () => client.select(statement, target)),
      change: (statement) => through(group, 'writer', statement, () => client.change(statement)),
    }),
  };
}
