import { Quarantine } from './quarantine.ts';
import { dropOldNotifications } from './drop-notifications.ts';
import { NOTIFICATIONS, notifyFollowers } from './statements/notifications.ts';
import { READ_ONLY, SqlError, type SqlChange, type SqlClient, type SqlTransactions, type Statement } from './client.ts';
import { checkParameters } from './names.ts';
import { joiningClient } from './joining-client.ts';
import { forgetEnds } from './statements/number-cells.ts';
import { numberedPlan, plainPlan, renumberedPlan, type TransactionPlan } from './transaction-plan.ts';
import { Turns, type Turn } from './turns.ts';
import {
  bytesOf,
  isUnwanted,
  MOST_BYTES,
  MOST_WAIT_MS,
  statementsOf,
  tableOf,
  tell,
  unwanted,
  WaitingStatements,
  type Waiting,
} from './waiting-statements.ts';

const POLL_MS = 50;

/** Refusals in a row after which appends are not numbered for a while: in vain it costs 1.7 times an unnumbered one. */
const MOST_REFUSED = 3;
const UNNUMBERED_AFTER_MS = 1000;
/** How long a transaction's appends go alone after a lock wait. */
const SUSPECTED_MS = 3500;

/**
 * Commits concurrent changes that may share a commit as one group, of any tables and callers. Nothing waits for
 * company: a lone statement goes at once. Appends are numbered, see `numberCells`.
 *
 * - A transaction that fails is taken back, and its statements are done one by one, each with its own answer. After an
 *   expected duplicate the others are committed without it. A table that was refused or locked goes alone for half a
 *   minute, and as long as it stays so.
 * - A slow turn passes its place on. Statements of tables that it may have locked wait for its end; all others go on.
 * - After an unclear end each caller is told so.
 */
export function batchingClient(client: SqlClient): SqlClient {
  // A hot shard whose table goes alone still has one append under way.
  const singly = joiningClient(client);
  if (!client.transactions) return singly;
  const batched = new BatchedChanges(singly, client.transactions);
  return {
    ...client,
    change: (statement) => batched.change(statement),
    close() {
      batched.close();
      return client.close();
    },
  };
}

class BatchedChanges {
  readonly #client: SqlClient;
  readonly #transactions: SqlTransactions;
  readonly #isolated = new Quarantine();
  readonly #waiting = new WaitingStatements();
  readonly #turns = new Turns();
  #isDue = false;
  #timer: NodeJS.Timeout | undefined;
  /** The last turn was a lone statement: the next is not likely to have company either. */
  #isLonely = true;
  #unnumberedUntil = 0;
  #refused = 0;

  constructor(client: SqlClient, transactions: SqlTransactions) {
    this.#client = client;
    this.#transactions = transactions;
  }

  change(statement: Statement): Promise<SqlChange> {
    if (isUnwanted(statement)) return Promise.reject(unwanted());
    if (statement.mayShareCommit !== true) return this.#client.change(statement);
    if (tableOf(statement) === NOTIFICATIONS) return this.#notify(statement);
    if (this.#isolated.has(tableOf(statement))) return this.#changeIsolated(statement);
    const isAlone = this.#isLonely && this.#turns.isEmpty && this.#waiting.isEmpty;
    if (isAlone && !hasMore(statement)) return this.#runAlone(statement);
    const bytes = bytesOf(statement.parameters);
    if (bytes > MOST_BYTES) return isAlone ? this.#runAlone(statement) : this.#changeUnnumbered(statement);
    return new Promise((resolve, reject) => {
      // A value that no driver takes must fail nothing else.
      checkParameters(statement.parameters);
      const one: Waiting = { statement, since: performance.now(), bytes, resolve, reject };
      if (isAlone) return void this.#runPlan([one]);
      this.#waiting.push(one);
      if (this.#isDue) return;
      if (this.#turns.running >= this.#transactions.atOnce) return this.#checkLater();
      this.#isDue = true;
      // After all statements of this turn of the event loop have come.
      setImmediate(() => this.#beginDue());
    });
  }

  /** Notifies alone. After a failure it is skipped for half a minute: it is not worth a second wait. */
  async #notify(statement: Statement): Promise<SqlChange> {
    if (this.#isolated.has(NOTIFICATIONS)) return { affectedRows: 0, insertId: 0 };
    try {
      return await this.#client.change(statement);
    } catch (error) {
      this.#isolated.keep(NOTIFICATIONS);
      throw error;
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    const closed = new SqlError('unreachable', 'the client was closed: nothing was sent');
    for (const { reject } of this.#waiting.takeAll()) reject(closed);
  }

  #beginDue(): void {
    this.#isDue = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#retire();
    for (const { reject } of this.#waiting.takeUnwanted()) reject(unwanted());
    this.#sendIsolated();
    while (this.#turns.running < this.#transactions.atOnce) {
      const some = this.#waiting.take(this.#turns.locked());
      if (some.length === 0) break;
      const hasConnection = this.#turns.overdue <= this.#transactions.spare;
      const isMore = some.length > 1 || some.some(({ statement }) => hasMore(statement));
      if (isMore && hasConnection) void this.#runPlan(some);
      else for (const { statement, resolve } of some) resolve(this.#runAlone(statement));
    }
    if (!this.#waiting.isEmpty) this.#checkLater();
  }

  #sendIsolated(): void {
    if (this.#isolated.isEmpty) return;
    const isolated = this.#waiting.takeIf(({ statement }) => this.#isolated.has(tableOf(statement)));
    for (const { statement, resolve } of isolated) resolve(this.#changeIsolated(statement));
  }

  async #runAlone(statement: Statement): Promise<SqlChange> {
    const turn = this.#turns.begin([statement], false);
    this.#isLonely = true;
    try {
      return await this.#changeIsolated(statement);
    } finally {
      this.#end(turn);
    }
  }

  async #runPlan(some: readonly Waiting[]): Promise<void> {
    // One order everywhere: transactions that meet wait for each other, but not in a circle.
    const ordered = some.toSorted((a, b) => compare(tableOf(a.statement), tableOf(b.statement)));
    const statements = statementsOf(ordered);
    const turn = this.#turns.begin(statements, true);
    this.#isLonely = statements.length === 1;
    const areNumbered = performance.now() >= this.#unnumberedUntil && statements.some(({ log }) => log !== undefined);
    try {
      if (areNumbered) await this.#runNumbered(ordered);
      else await this.#runOnce(ordered, plainPlan(statements));
    } catch (error) {
      this.#settleSingly(ordered, error);
    } finally {
      this.#end(turn);
    }
  }

  /** Numbers appends. Appends that cannot be numbered are sent again as they are; all of them if one was refused. */
  async #runNumbered(ordered: readonly Waiting[]): Promise<void> {
    let left = ordered;
    try {
      left = await this.#runOnce(ordered, numberedPlan(statementsOf(ordered)));
      this.#refused = 0;
    } catch (error) {
      if (!(error instanceof SqlError)) throw error;
      if (error.failure !== 'duplicate' || !isOfAppend(ordered, error)) throw error;
      this.#refused += 1;
      if (this.#refused >= MOST_REFUSED) this.#unnumberedUntil = performance.now() + UNNUMBERED_AFTER_MS;
    }
    if (left.length === 0) return;
    try {
      await this.#runOnce(left, renumberedPlan(statementsOf(left)));
    } catch (error) {
      this.#settleSingly(left, error);
    }
  }

  /** Tells senders the outcome; returns appends that could not be numbered, whose senders were told nothing. */
  async #runOnce(ordered: readonly Waiting[], { before, parts, after }: TransactionPlan): Promise<readonly Waiting[]> {
    const statements = [...before, ...parts.map(({ statement }) => statement), ...after];
    const notifications = this.#notificationsOf(ordered);
    try {
      const changes = await this.#transactions.run([...statements, ...notifications]);
      if (notifications.length > 0) dropOldNotifications(this.#client, changes.at(-1)?.insertId ?? 0);
      const left: Waiting[] = [];
      for (const [position, { of, isNumbered }] of parts.entries()) {
        const change = changes[before.length + position] as SqlChange;
        const some = of.map((place) => ordered[place] as Waiting);
        if (isNumbered && change.affectedRows === 0) left.push(...some);
        else tell(some, change, notifications.length > 0);
      }
      return left;
    } catch (error) {
      if (!(error instanceof SqlError) || error.position === undefined) throw error;
      if (notifications.length > 0 && error.position === statements.length) this.#isolated.keep(NOTIFICATIONS);
      // All of them lock these rows: whose fault it was is not known.
      if (error.position < before.length && error.isLockWait)
        for (const { statement } of ordered) if (statement.log) this.#isolated.keep(tableOf(statement), SUSPECTED_MS);
      throw error.at(parts[error.position - before.length]?.of[0] ?? -1);
    }
  }

  /** Returns the notification for moved shards; none if it failed a moment ago. */
  #notificationsOf(some: readonly Waiting[]): readonly Statement[] {
    const moved = some.flatMap(({ statement: { moves } }) => moves ?? []);
    return moved.length === 0 || this.#isolated.has(NOTIFICATIONS) ? [] : [notifyFollowers(moved)];
  }

  /**
   * Sends statements one by one if none was done; tells all if that is unknown or there is no writer. After an expected
   * duplicate only its sender is told; the others wait for the next turn, once.
   */
  #settleSingly(some: readonly Waiting[], error: unknown): void {
    if (!(error instanceof SqlError) || error.failure === 'unclear' || READ_ONLY.has(error.errno)) {
      for (const { reject } of some) reject(error);
      return;
    }
    const faulty = some[error.position ?? -1];
    const isThere = error.failure === 'duplicate' && faulty?.statement.mayBeThere === true;
    if (faulty && isThere && some.every(({ isSecond }) => isSecond !== true)) {
      faulty.reject(error);
      const others = some.filter((one) => one !== faulty);
      this.#waiting.putBack(others.map((one): Waiting => ({ ...one, isSecond: true })));
      return;
    }
    if (faulty && !isThere && (error.failure !== 'contention' || error.isLockWait)) {
      this.#isolated.keep(tableOf(faulty.statement));
    }
    for (const { statement, resolve } of some) resolve(this.#changeIsolated(statement));
  }

  /** Isolates a table whose lock was not granted in time. */
  async #changeIsolated(statement: Statement): Promise<SqlChange> {
    try {
      return await this.#changeUnnumbered(statement);
    } catch (error) {
      if (error instanceof SqlError && (error.isLockWait || error.timedOut)) this.#isolated.keep(tableOf(statement));
      throw error;
    }
  }

  /** Commits a statement alone, and forgets in the background where its log ends. */
  async #changeUnnumbered(statement: Statement): Promise<SqlChange> {
    const change = await this.#client.change(statement);
    const { log } = statement;
    const isFirst = (change.among?.at ?? 0) === 0;
    if (log && isFirst && change.affectedRows > 0)
      for (const forget of forgetEnds([log])) this.#client.change(forget).catch(() => undefined);
    return change;
  }

  #end(turn: Turn): void {
    this.#turns.end(turn);
    if (!this.#waiting.isEmpty && !this.#isDue) {
      this.#isDue = true;
      setImmediate(() => this.#beginDue());
    }
  }

  /** Takes the places of overdue turns, and refuses what waited too long. */
  #retire(): void {
    for (const table of this.#turns.retire()) this.#isolated.keep(table);
    const refusal = `not sent within ${MOST_WAIT_MS} ms: transactions before it wait for locks`;
    for (const { reject } of this.#waiting.takeLate()) {
      reject(new SqlError('unreachable', refusal, { poolExhausted: true }));
    }
  }

  /** Comes again when the oldest turn is overdue, or soon if none runs. */
  #checkLater(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#beginDue(), Math.max(POLL_MS, this.#turns.leftMs()));
  }
}

/** An error of unknown position may be an append's. */
function isOfAppend(some: readonly Waiting[], error: SqlError): boolean {
  const faulty = some[error.position ?? -1];
  return faulty === undefined || faulty.statement.log !== undefined;
}

/** Something goes with it that needs a transaction. */
const hasMore = ({ readAfter, moves, log }: Statement): boolean => (readAfter ?? moves ?? log) !== undefined;

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
