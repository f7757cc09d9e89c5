import { randomBytes } from 'node:crypto';
import type { Connection, PoolConnection } from 'mysql2';
import { cut, type Connections } from './connections.ts';
import { DataApiException, exceptionOf } from './exceptions.ts';
import { after, type Limits } from './limits.ts';
import type { Login } from './logins.ts';
import type { Target } from './request.ts';
import { ResultTooLarge } from './run-statement.ts';
import type { TimedCall } from './timed-call.ts';
import { Transaction, transactionNotFound, type Over } from './transaction.ts';

/** As long as the ids that are seen of the real one: 184 characters of base64. */
const ID_BYTES = 138;
/** Transactions that are over and still known by their ids. */
const REMEMBERED = 10_000;
/** ER_LOCK_DEADLOCK, and MariaDB's ER_CHECKREAD: the server has rolled the transaction back. */
const ROLLED_BACK = new Set([1213, 1020]);

/** The transactions under way. One that is forgotten by its client is rolled back in time. */
export class Transactions {
  readonly #open = new Map<
    string,
    { readonly transaction: Transaction; readonly totalTimer: NodeJS.Timeout | undefined }
  >();
  readonly #over = new Map<string, Over>();
  readonly #connections: Connections;
  readonly #limits: Limits;

  constructor(connections: Connections, limits: Limits) {
    this.#connections = connections;
    this.#limits = limits;
  }

  async begin(resourceArn: string, login: Login, database: string | undefined): Promise<string> {
    const connection = await this.#connections.take(login, database);
    try {
      // Not BEGIN: what follows an implicit commit is part of a transaction too, and is rolled back with it.
      await control(connection, 'SET autocommit = 0');
    } catch (error) {
      connection.destroy();
      throw error;
    }
    const id = randomBytes(ID_BYTES).toString('base64');
    const transaction = new Transaction({
      id,
      resourceArn,
      database,
      login,
      connection,
      idleMs: this.#limits.transactionIdleMs,
      onIdle: () => this.#giveUp(transaction, 'expired'),
    });
    this.#open.set(id, {
      transaction,
      totalTimer: after(this.#limits.transactionTotalMs, () => this.#giveUp(transaction, 'expired')),
    });
    return id;
  }

  /** Makes a call on a transaction, which stays busy until the call has ended on the server. */
  async use<T>(
    target: Target & { readonly transactionId: string },
    call: (transaction: Transaction) => TimedCall<T>,
  ): Promise<T> {
    const transaction = this.#find(target);
    await transaction.enter(!this.#limits.singleCall);
    let timed: TimedCall<T>;
    try {
      // It may have ended while this call waited.
      this.#find(target);
      timed = call(transaction);
    } catch (error) {
      transaction.leave();
      throw error;
    }
    const ended = timed.ended.then(() => transaction.leave());
    try {
      const answer = await timed.answer;
      await ended;
      return answer;
    } catch (error) {
      if (endsTransaction(error)) this.#giveUp(transaction, 'aborted');
      else if (!(error instanceof DataApiException && error.name === 'StatementTimeoutException')) await ended;
      throw error;
    }
  }

  async commit(target: Target & { readonly transactionId: string }): Promise<void> {
    const transaction = this.#find(target);
    await this.#end(transaction, 'COMMIT');
  }

  async rollback(target: Target & { readonly transactionId: string }): Promise<void> {
    // Whoever sees a call fail rolls back: where the server did so already, that is what was wanted.
    if (this.#over.get(target.transactionId) === 'aborted') {
      this.#over.set(target.transactionId, 'ended');
      return;
    }
    await this.#end(this.#find(target), 'ROLLBACK');
  }

  /** Rolls everything back. */
  close(): void {
    for (const { transaction } of this.#open.values()) this.#giveUp(transaction, 'expired');
  }

  #find({ transactionId, resourceArn, database }: Target & { readonly transactionId: string }): Transaction {
    const transaction = this.#open.get(transactionId)?.transaction;
    if (!transaction || transaction.resourceArn !== resourceArn)
      throw transactionNotFound(transactionId, this.#over.get(transactionId) ?? 'unknown');
    if (database !== undefined && database !== transaction.database)
      throw new DataApiException('ValidationException', 'Database name is not the same as transaction database');
    return transaction;
  }

  async #end(transaction: Transaction, statement: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    await transaction.enter(!this.#limits.singleCall);
    if (!this.#open.has(transaction.id)) {
      transaction.leave();
      throw transactionNotFound(transaction.id, this.#over.get(transaction.id) ?? 'unknown');
    }
    this.#forget(transaction, 'ended');
    const { connection } = transaction;
    try {
      await control(connection, statement);
      if (transaction.hasSessionState) return connection.destroy();
      await control(connection, 'SET autocommit = 1');
      connection.release();
    } catch (error) {
      connection.destroy();
      throw error;
    } finally {
      transaction.leave();
      transaction.stopWaiting();
    }
  }

  /** The server rolls back what a connection leaves behind; a statement that runs on it is killed, to let it notice. */
  #giveUp(transaction: Transaction, over: Over): void {
    if (!this.#open.has(transaction.id)) return;
    this.#forget(transaction, over);
    const { connection, login, isBusy } = transaction;
    if (isBusy) void this.#connections.killQuery(login, connection.threadId ?? 0).catch(() => undefined);
    cut(connection);
  }

  #forget(transaction: Transaction, over: Over): void {
    clearTimeout(this.#open.get(transaction.id)?.totalTimer);
    transaction.stopWaiting();
    this.#open.delete(transaction.id);
    this.#over.set(transaction.id, over);
    const [oldest] = this.#over.keys();
    if (this.#over.size > REMEMBERED && oldest !== undefined) this.#over.delete(oldest);
  }
}

function endsTransaction(error: unknown): boolean {
  if (!(error instanceof DataApiException)) return true;
  if (
    error instanceof ResultTooLarge ||
    error.name === 'DatabaseUnavailableException' ||
    error.name === 'InternalServerErrorException'
  )
    return true;
  const { errno } = Object(error.cause) as { errno?: number };
  return error.name === 'DatabaseErrorException' && errno !== undefined && ROLLED_BACK.has(errno);
}

function control(connection: Connection | PoolConnection, sql: string): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.query(sql, (error) => (error ? reject(exceptionOf(error)) : resolve()));
  });
}
