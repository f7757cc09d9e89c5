import type { PoolConnection } from 'mysql2';
import { DataApiException } from './exceptions.ts';
import { after } from './limits.ts';
import type { Login } from './logins.ts';

/** Why a transaction is over, in the words of the documentation. */
const OVER = {
  unknown: 'Transaction may be expired.',
  expired: 'Transaction may be expired.',
  ended: 'One previous call resulted in a termination of your transaction.',
  aborted: 'Transaction has been aborted due to an error from a previous call.',
} as const;
export type Over = keyof typeof OVER;

export function transactionNotFound(id: string, over: Over): DataApiException {
  return new DataApiException('TransactionNotFoundException', `Transaction ${id} is not found. ${OVER[over]}`);
}

interface TransactionOptions {
  readonly id: string;
  readonly resourceArn: string;
  readonly database: string | undefined;
  readonly login: Login;
  readonly connection: PoolConnection;
  readonly idleMs: number;
  /** It was idle for too long. */
  readonly onIdle: () => void;
}

/** A transaction that is under way on a connection of its own; one call at a time is on it. */
export class Transaction {
  readonly id: string;
  readonly resourceArn: string;
  readonly database: string | undefined;
  readonly login: Login;
  readonly connection: PoolConnection;
  /** A statement of it left something in the session, which nobody else may see. */
  hasSessionState = false;
  readonly #options: TransactionOptions;
  readonly #waiting: (() => void)[] = [];
  #isBusy = false;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(options: TransactionOptions) {
    this.id = options.id;
    this.resourceArn = options.resourceArn;
    this.database = options.database;
    this.login = options.login;
    this.connection = options.connection;
    this.#options = options;
    this.#rest();
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Takes the transaction for a call, or waits until it is free. Each `enter` needs its `leave`. */
  async enter(waits: boolean): Promise<void> {
    if (this.#isBusy && !waits)
      throw new DataApiException('DatabaseErrorException', 'Transaction is still running a query');
    if (this.#isBusy) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#isBusy = true;
    clearTimeout(this.#idleTimer);
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next) return next();
    this.#isBusy = false;
    return this.#rest();
  }

  stopWaiting(): void {
    clearTimeout(this.#idleTimer);
  }

  #rest(): void {
    this.#idleTimer = after(this.#options.idleMs, this.#options.onIdle);
  }
}
