import { SqlError, type SqlClient, type SqlTransactions, type Statement } from '../../../../shared/sql/client.ts';
import type { DynamoTable } from '../../../../shared/dynamo/table.ts';
import type { VirtualTime } from './virtual-time.ts';

/**
 * A run of a function, as the rest of the world sees it: all that it sends and hears goes through here. A frozen one
 * neither sends nor hears, and messages on their way to it are lost. A dead one stays so for ever.
 */
export interface Instance {
  readonly isDead: boolean;
  /** Resolves once it is dead. */
  readonly death: Promise<void>;
  die(): void;
  freeze(milliseconds: number): void;
  thaw(): void;
  client(client: SqlClient): SqlClient;
  table(table: DynamoTable): DynamoTable;
}

/** @param onLost called with a statement whose answer the instance will never hear, since it was frozen */
export function openInstance(time: VirtualTime, onLost: (statement: Statement) => void): Instance {
  const death = Promise.withResolvers<void>();
  let state: 'alive' | 'frozen' | 'dead' = 'alive';
  /** How often it was frozen so far. */
  let freezes = 0;
  let thawed: (() => void)[] = [];

  /** Resolves once the instance can act; never if it is dead. */
  function alive(): Promise<void> {
    return new Promise((resolve) => {
      if (state === 'alive') resolve();
      else if (state === 'frozen') thawed.push(resolve);
    });
  }

  async function through<Answer>(send: () => Promise<Answer>, lost: () => Error): Promise<Answer> {
    if (state !== 'alive') await alive();
    const before = freezes;
    let outcome: { readonly answer: Answer } | { readonly error: unknown };
    try {
      outcome = { answer: await send() };
    } catch (error) {
      outcome = { error };
    }
    if (state !== 'alive') await alive();
    if (freezes !== before) throw lost();
    if ('error' in outcome) throw outcome.error;
    return outcome.answer;
  }

  const thaw = (): void => {
    if (state !== 'frozen') return;
    state = 'alive';
    for (const resolve of thawed.splice(0)) resolve();
  };
  const forgotten = (statements: readonly Statement[]) => (): SqlError => {
    statements.forEach(onLost);
    return new SqlError('unclear', 'the connection was forgotten');
  };

  const transact =
    (transactions: SqlTransactions): SqlTransactions['run'] =>
    (statements) =>
      through(() => transactions.run(statements), forgotten(statements));

  return {
    get isDead() {
      return state === 'dead';
    },
    death: death.promise,
    die() {
      state = 'dead';
      thawed = [];
      death.resolve();
    },
    freeze(milliseconds) {
      if (state !== 'alive') return;
      state = 'frozen';
      freezes += 1;
      const freeze = freezes;
      time.after(milliseconds, () => {
        if (freeze === freezes) thaw();
      });
    },
    thaw,
    client: (client) => ({
      ...client,
      select: (statement, target) => through(() => client.select(statement, target), forgotten([statement])),
      change: (statement) => through(() => client.change(statement), forgotten([statement])),
      ...(client.transactions && { transactions: { ...client.transactions, run: transact(client.transactions) } }),
    }),
    table: ({ client, table }) => ({
      client: {
        send: (command: Parameters<typeof client.send>[0]) =>
          through(
            () => client.send(command),
            () => new Error('the connection was forgotten'),
          ),
      } as unknown as DynamoTable['client'],
      table,
    }),
  };
}
