import { ApartTables } from './apart-tables.ts';
import {
  SqlError,
  type SqlChange,
  type SqlClient,
  type SqlParameter,
  type SqlTransactions,
  type Statement,
} from './client.ts';

/** Statements of one transaction at most: each holds its locks until the last one is committed. */
const MOST_STATEMENTS = 100;
/** Bytes of values of one transaction at most; a large statement is not to be waited for by small ones. */
const MOST_BYTES = 256 * 1024;
/** What takes so long waits for a lock, or for a server that is slow: others do not wait for it. */
const OVERDUE_MS = 250;
/** How often it is looked again where all that are overdue keep their places. */
const LOOK_MS = 50;

/** ER_LOCK_DEADLOCK, ER_CHECKREAD: a matter of who came first, not of the table. */
const NOBODYS_FAULT = new Set([1213, 1020]);

interface Waiting {
  readonly statement: Statement;
  readonly bytes: number;
  readonly resolve: (change: SqlChange | Promise<SqlChange>) => void;
  readonly reject: (error: unknown) => void;
}

/** A transaction under way, or a lone statement. */
interface Turn {
  readonly since: number;
  readonly statements: readonly Statement[];
}

/**
 * One group's client, where changes that come together are committed together: those that may (`mayShareCommit`), of
 * whatever tables and callers, while as many transactions as should be are under way. What a commit costs, and on
 * Aurora that is a quorum of storage nodes, is then paid once. Nobody waits for company: what comes alone goes alone,
 * at once.
 *
 * **Who is at fault stands alone.** A transaction that fails is taken back, and its statements are done one by one, so
 * that each has its own answer. The table that a server refused, or that somebody had locked, goes by itself for half a
 * minute. While a turn takes longer than it should, the tables that it has to do with go by themselves, and its place
 * is given to another one.
 *
 * After an unclear end each caller is told so, as after one of its own statement.
 */
export function joiningClient(client: SqlClient): SqlClient {
  const { transactions } = client;
  if (!transactions) return client;
  const joined = new JoinedChanges(client, transactions);
  return { ...client, change: (statement) => joined.change(statement) };
}

class JoinedChanges {
  readonly #client: SqlClient;
  readonly #transactions: SqlTransactions;
  readonly #apart = new ApartTables();
  readonly #waiting: Waiting[] = [];
  /** Turns that keep others from beginning, in the order in which they began. */
  readonly #running = new Set<Turn>();
  readonly #overdue = new Set<Turn>();
  #overdueTransactions = 0;
  #isDue = false;
  #timer: NodeJS.Timeout | undefined;
  /**
   * Whether the last turn that began was a lone statement: the next that comes is then not likely to have company
   * either.
   */
  #isLonely = true;

  constructor(client: SqlClient, transactions: SqlTransactions) {
    this.#client = client;
    this.#transactions = transactions;
  }

  change(statement: Statement): Promise<SqlChange> {
    if (statement.mayShareCommit !== true) return this.#client.change(statement);
    if (this.#running.size > 0) this.#retire();
    if (this.#apart.has(statement.table)) return this.#client.change(statement);
    if (this.#isLonely && this.#running.size === 0 && this.#waiting.length === 0) return this.#runAlone(statement);
    const bytes = bytesOf(statement.parameters);
    if (bytes > MOST_BYTES) return this.#client.change(statement);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ statement, bytes, resolve, reject });
      if (this.#isDue) return;
      if (this.#running.size >= this.#transactions.atOnce) return this.#awaitOverdue();
      this.#isDue = true;
      // Once everybody is here who comes in this turn of the event loop, from any connection.
      setImmediate(() => this.#beginDue());
    });
  }

  #beginDue(): void {
    this.#isDue = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#retire();
    while (this.#running.size < this.#transactions.atOnce && this.#waiting.length > 0) {
      const some = this.#take();
      const [only] = some;
      if (some.length === 1 && only) only.resolve(this.#runAlone(only.statement));
      else void this.#runTogether(some);
    }
    if (this.#waiting.length > 0) this.#awaitOverdue();
  }

  /** The first that wait, as many as go together. */
  #take(): readonly Waiting[] {
    let [count, bytes] = [0, 0];
    for (const one of this.#waiting) {
      if (count === MOST_STATEMENTS || (count > 0 && bytes + one.bytes > MOST_BYTES)) break;
      count += 1;
      bytes += one.bytes;
    }
    return this.#waiting.splice(0, count);
  }

  async #runAlone(statement: Statement): Promise<SqlChange> {
    const turn = this.#begin([statement]);
    try {
      return await this.#client.change(statement);
    } finally {
      this.#end(turn);
    }
  }

  async #runTogether(some: readonly Waiting[]): Promise<void> {
    // In one order everywhere: two that meet wait for each other, and not in a circle.
    const ordered = some.toSorted((a, b) => compare(a.statement.table, b.statement.table));
    const turn = this.#begin(ordered.map(({ statement }) => statement));
    try {
      const changes = await this.#transactions.run(turn.statements);
      for (const [place, { resolve }] of ordered.entries()) resolve(changes[place] as SqlChange);
    } catch (error) {
      this.#settleSingly(ordered, error);
    } finally {
      this.#end(turn);
    }
  }

  #settleSingly(some: readonly Waiting[], error: unknown): void {
    const isOver =
      error instanceof SqlError &&
      (error.poolExhausted || (error.failure !== 'unclear' && error.failure !== 'unreachable'));
    if (!isOver) {
      for (const { reject } of some) reject(error);
      return;
    }
    if (error.position !== undefined && !NOBODYS_FAULT.has(error.errno))
      this.#apart.keep(some[error.position]?.statement.table);
    for (const { statement, resolve } of some) resolve(this.#client.change(statement));
  }

  #begin(statements: readonly Statement[]): Turn {
    const turn: Turn = { since: performance.now(), statements };
    this.#isLonely = statements.length === 1;
    this.#running.add(turn);
    return turn;
  }

  #end(turn: Turn): void {
    this.#running.delete(turn);
    if (this.#overdue.delete(turn)) {
      this.#apart.leave(turn.statements);
      if (turn.statements.length > 1) this.#overdueTransactions -= 1;
    }
    if (this.#waiting.length > 0) this.#beginDue();
  }

  /** Takes their places from those that are overdue. A lone statement has its connection from elsewhere. */
  #retire(): void {
    for (const turn of this.#running) {
      if (performance.now() - turn.since < OVERDUE_MS) return;
      const isLone = turn.statements.length === 1;
      if (!isLone && this.#overdueTransactions >= this.#transactions.spare) continue;
      if (!isLone) this.#overdueTransactions += 1;
      this.#running.delete(turn);
      this.#overdue.add(turn);
      this.#apart.enter(turn.statements);
    }
  }

  /** Comes again once the first of those that run is overdue, if none ends before. */
  #awaitOverdue(): void {
    const [first] = this.#running;
    if (this.#timer !== undefined || !first) return;
    const leftMs = first.since + OVERDUE_MS - performance.now();
    this.#timer = setTimeout(() => this.#beginDue(), Math.max(LOOK_MS, leftMs));
  }
}

function bytesOf(parameters: readonly SqlParameter[]): number {
  let bytes = 0;
  for (const value of parameters) if (typeof value === 'object' && value !== null) bytes += value.length;
  return bytes;
}

function compare(a = '', b = ''): number {
  return a < b ? -1 : Number(a > b);
}
