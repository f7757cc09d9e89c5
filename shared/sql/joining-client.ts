import { Quarantine } from './quarantine.ts';
import { BELLS, dropBells, ringBells, RINGS_A_DROP } from './statements/ring-bells.ts';
import { READ_ONLY, SqlError, type SqlChange, type SqlClient, type SqlTransactions, type Statement } from './client.ts';
import { checkParameters } from './names.ts';
import { forgetEnds } from './statements/number-cells.ts';
import { numberedTogether, plainTogether, renumberedTogether, type Together } from './together.ts';
import { Turns, type Turn } from './turns.ts';
import { bytesOf, MOST_BYTES, MOST_WAIT_MS, tableOf, WaitingStatements, type Waiting } from './waiting-statements.ts';

const LOOK_MS = 50;

/** Refusals in a row after which appends are not numbered for a while: in vain it costs 1.7 times an unnumbered one. */
const MOST_REFUSED = 3;
const UNNUMBERED_AFTER_MS = 1000;
/** How long a transaction's appends go alone after a lock wait. */
const SUSPECTED_MS = 3500;

/** ER_LOCK_WAIT_TIMEOUT */
const LOCK_WAIT = 1205;

/**
 * Commits changes together that come together and may share a commit, of any tables and callers. Nothing waits for
 * company: a lone statement goes at once. Appends are numbered, see `numberCells`.
 *
 * - A transaction that fails is taken back, and its statements are done one by one, each with its own answer. After an
 *   expected duplicate the others go together without it. A table that was refused or locked goes alone for half a
 *   minute, and as long as it stays so.
 * - A slow turn passes its place on. Statements of tables that it may have locked wait for its end; all others go on.
 * - After an unclear end each caller is told so.
 */
export function joiningClient(client: SqlClient): SqlClient {
  const { transactions } = client;
  if (!transactions) return client;
  const joined = new JoinedChanges(client, transactions);
  return {
    ...client,
    change: (statement) => joined.change(statement),
    close() {
      joined.close();
      return client.close();
    },
  };
}

class JoinedChanges {
  readonly #client: SqlClient;
  readonly #transactions: SqlTransactions;
  readonly #apart = new Quarantine();
  readonly #waiting = new WaitingStatements();
  readonly #turns = new Turns();
  #isDue = false;
  #timer: NodeJS.Timeout | undefined;
  /** The last turn was a lone statement: the next is not likely to have company either. */
  #isLonely = true;
  #unnumberedUntil = 0;
  #refused = 0;
  /** Random, so that short-lived clients drop old notifications too. */
  #untilDrop = Math.ceil(Math.random() * RINGS_A_DROP);

  constructor(client: SqlClient, transactions: SqlTransactions) {
    this.#client = client;
    this.#transactions = transactions;
  }

  change(statement: Statement): Promise<SqlChange> {
    if (statement.mayShareCommit !== true) return this.#client.change(statement);
    if (tableOf(statement) === BELLS) return this.#ring(statement);
    if (this.#apart.has(tableOf(statement))) return this.#changeApart(statement);
    const isAlone = this.#isLonely && this.#turns.isEmpty && this.#waiting.isEmpty;
    if (isAlone && !hasMore(statement)) return this.#runAlone(statement);
    const bytes = bytesOf(statement.parameters);
    if (bytes > MOST_BYTES) return isAlone ? this.#runAlone(statement) : this.#changeUnnumbered(statement);
    return new Promise((resolve, reject) => {
      // A value that no driver takes must fail nothing else.
      checkParameters(statement.parameters);
      const one: Waiting = { statement, since: performance.now(), bytes, resolve, reject };
      if (isAlone) return void this.#runTogether([one]);
      this.#waiting.push(one);
      if (this.#isDue) return;
      if (this.#turns.running >= this.#transactions.atOnce) return this.#lookLater();
      this.#isDue = true;
      // After all statements of this turn of the event loop have come.
      setImmediate(() => this.#beginDue());
    });
  }

  /** Notifies alone. After a failure it is skipped for half a minute: it is not worth a second wait. */
  async #ring(statement: Statement): Promise<SqlChange> {
    if (this.#apart.has(BELLS)) return { affectedRows: 0, insertId: 0 };
    try {
      return await this.#client.change(statement);
    } catch (error) {
      this.#apart.keep(BELLS);
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
    this.#sendApart();
    while (this.#turns.running < this.#transactions.atOnce) {
      const some = this.#waiting.take(this.#turns.locked());
      if (some.length === 0) break;
      const hasConnection = this.#turns.overdue <= this.#transactions.spare;
      const isMore = some.length > 1 || some.some(({ statement }) => hasMore(statement));
      if (isMore && hasConnection) void this.#runTogether(some);
      else for (const { statement, resolve } of some) resolve(this.#runAlone(statement));
    }
    if (!this.#waiting.isEmpty) this.#lookLater();
  }

  #sendApart(): void {
    if (this.#apart.isEmpty) return;
    const apart = this.#waiting.takeIf(({ statement }) => this.#apart.has(tableOf(statement)));
    for (const { statement, resolve } of apart) resolve(this.#changeApart(statement));
  }

  async #runAlone(statement: Statement): Promise<SqlChange> {
    const turn = this.#turns.begin([statement], false);
    this.#isLonely = true;
    try {
      return await this.#changeApart(statement);
    } finally {
      this.#end(turn);
    }
  }

  async #runTogether(some: readonly Waiting[]): Promise<void> {
    // One order everywhere: transactions that meet wait for each other, but not in a circle.
    const ordered = some.toSorted((a, b) => compare(tableOf(a.statement), tableOf(b.statement)));
    const statements = statementsOf(ordered);
    const turn = this.#turns.begin(statements, true);
    this.#isLonely = statements.length === 1;
    const appends = statements.some(({ log }) => log !== undefined);
    try {
      if (!appends) await this.#runOnce(ordered, { statements, first: 0 });
      else if (performance.now() < this.#unnumberedUntil) await this.#runOnce(ordered, plainTogether(statements));
      else await this.#runNumbered(ordered);
    } catch (error) {
      this.#settleSingly(ordered, error);
    } finally {
      this.#end(turn);
    }
  }

  /** Numbers appends. Those that cannot be numbered go once more as they are; all of them if one was refused. */
  async #runNumbered(ordered: readonly Waiting[]): Promise<void> {
    let left = ordered;
    try {
      left = await this.#runOnce(ordered, numberedTogether(statementsOf(ordered)));
      this.#refused = 0;
    } catch (error) {
      if (!(error instanceof SqlError)) throw error;
      if (error.failure !== 'duplicate' || !isOfAppend(ordered, error)) throw error;
      this.#refused += 1;
      if (this.#refused >= MOST_REFUSED) this.#unnumberedUntil = performance.now() + UNNUMBERED_AFTER_MS;
    }
    if (left.length === 0) return;
    try {
      await this.#runOnce(left, renumberedTogether(statementsOf(left)));
    } catch (error) {
      this.#settleSingly(left, error);
    }
  }

  /** Tells senders the outcome; returns appends that could not be numbered, whose senders were told nothing. */
  async #runOnce(
    ordered: readonly Waiting[],
    { statements, first, isNumbered }: Together,
  ): Promise<readonly Waiting[]> {
    const bells = this.#bellsOf(statements);
    try {
      const changes = await this.#transactions.run([...statements, ...bells]);
      if (bells.length > 0) this.#dropBells(changes.at(-1)?.insertId ?? 0);
      return ordered.filter(({ statement, resolve }, position) => {
        const change = changes[first + position] as SqlChange;
        if (isNumbered && statement.log?.numbered && change.affectedRows === 0) return true;
        resolve(bells.length > 0 && statement.moves ? { ...change, hasRung: true } : change);
        return false;
      });
    } catch (error) {
      if (!(error instanceof SqlError) || error.position === undefined) throw error;
      if (bells.length > 0 && error.position === statements.length) this.#apart.keep(BELLS);
      // All of them lock these rows: whose fault it was is not known.
      if (error.position < first && error.errno === LOCK_WAIT)
        for (const { statement } of ordered) if (statement.log) this.#apart.keep(tableOf(statement), SUSPECTED_MS);
      throw error.at(error.position - first);
    }
  }

  /** Returns the notification for moved shards; none if it failed a moment ago. */
  #bellsOf(statements: readonly Statement[]): readonly Statement[] {
    const moved = statements.flatMap(({ moves }) => (moves ? [moves] : []));
    return moved.length === 0 || this.#apart.has(BELLS) ? [] : [ringBells(moved)];
  }

  /** Drops old notifications once in a while; nothing waits for it. */
  #dropBells(newest: number): void {
    this.#untilDrop -= 1;
    if (this.#untilDrop > 0) return;
    this.#untilDrop = RINGS_A_DROP;
    this.#client.change(dropBells(newest)).catch(() => undefined);
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
    const atFault = some[error.position ?? -1];
    const isThere = error.failure === 'duplicate' && atFault?.statement.mayBeThere === true;
    if (atFault && isThere && some.every(({ isSecond }) => isSecond !== true)) {
      atFault.reject(error);
      const others = some.filter((one) => one !== atFault);
      this.#waiting.putBack(others.map((one): Waiting => ({ ...one, isSecond: true })));
      return;
    }
    if (atFault && !isThere && (error.failure !== 'contention' || error.errno === LOCK_WAIT)) {
      this.#apart.keep(tableOf(atFault.statement));
    }
    for (const { statement, resolve } of some) resolve(this.#changeApart(statement));
  }

  /** Keeps a table apart whose lock was waited for in vain. */
  async #changeApart(statement: Statement): Promise<SqlChange> {
    try {
      return await this.#changeUnnumbered(statement);
    } catch (error) {
      if (error instanceof SqlError && (error.errno === LOCK_WAIT || error.timedOut))
        this.#apart.keep(tableOf(statement));
      throw error;
    }
  }

  /** Commits a statement alone, and forgets in the background where its log ends. */
  async #changeUnnumbered(statement: Statement): Promise<SqlChange> {
    const change = await this.#client.change(statement);
    const { log } = statement;
    if (log && change.affectedRows > 0)
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
    for (const table of this.#turns.retire()) this.#apart.keep(table);
    const refusal = `not sent within ${MOST_WAIT_MS} ms: transactions before it wait for locks`;
    for (const { reject } of this.#waiting.takeLate()) {
      reject(new SqlError('unreachable', refusal, { poolExhausted: true }));
    }
  }

  /** Comes again when the oldest turn is overdue, or soon if none runs. */
  #lookLater(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#beginDue(), Math.max(LOOK_MS, this.#turns.leftMs()));
  }
}

function statementsOf(some: readonly Waiting[]): readonly Statement[] {
  return some.map(({ statement }) => statement);
}

/** An error of unknown position may be an append's. */
function isOfAppend(some: readonly Waiting[], error: SqlError): boolean {
  const atFault = some[error.position ?? -1];
  return atFault === undefined || atFault.statement.log !== undefined;
}

/** Something goes with it that needs a transaction. */
function hasMore({ thenSelect, moves, log }: Statement): boolean {
  return thenSelect !== undefined || moves !== undefined || log !== undefined;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
