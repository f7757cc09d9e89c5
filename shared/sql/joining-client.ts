import { ApartTables } from './apart-tables.ts';
import { BELLS, dropBells, ringBells, RINGS_A_DROP } from './statements/ring-bells.ts';
import {
  SqlError,
  type SqlChange,
  type SqlClient,
  type SqlParameter,
  type SqlTransactions,
  type Statement,
} from './client.ts';
import { checkParameters } from './names.ts';
import { forgetEnds } from './statements/forget-ends.ts';
import { numberedTogether, plainTogether, renumberedTogether, type Together } from './together.ts';

/**
 * Statements of one transaction at most, without those that number: each holds its locks until the last one is committed,
 * and the rows of their shards are held from the first on. A hundred in place of fifty save little more.
 */
const MOST_STATEMENTS = 50;
/** Bytes of values of one transaction at most; a large statement is not to be waited for by small ones. */
const MOST_BYTES = 256 * 1024;
/** What takes so long waits for a lock, or for a server that is slow: others do not wait for it. */
const OVERDUE_MS = 250;
/** Who has waited for so long for a turn is told that nothing was sent, as who waits for a connection is. */
const MOST_WAIT_MS = 2000;
/** How often it is looked again where somebody waits and nothing ends. */
const LOOK_MS = 50;

/**
 * So many transactions one after the other whose numbers were refused, and appends are not numbered for a while: somebody
 * writes again what is there, or others append without numbers. To number, and then not, takes 1.7 times what not to
 * number takes, which itself takes twice what it takes to number.
 */
const MOST_REFUSED = 3;
const UNNUMBERED_AFTER_MS = 1000;
/** How long the appends of a transaction go by themselves that waited for a row in vain: whose it is will be known then. */
const SUSPECTED_MS = 3500;

/** ER_LOCK_WAIT_TIMEOUT */
const LOCK_WAIT = 1205;
/** ER_OPTION_PREVENTS_STATEMENT, ER_READ_ONLY_MODE: a writer no more. */
const READ_ONLY = new Set([1290, 1836]);

interface Waiting {
  readonly statement: Statement;
  readonly since: number;
  readonly bytes: number;
  /** Taken back once for what another one found there. */
  readonly isSecond?: true;
  readonly resolve: (change: SqlChange | Promise<SqlChange>) => void;
  readonly reject: (error: unknown) => void;
}

/** A transaction under way, or a lone statement. */
interface Turn {
  readonly since: number;
  readonly statements: readonly Statement[];
  /** On one of the connections for transactions. */
  readonly isTransaction: boolean;
}

/**
 * One group's client, where changes that come together are committed together: those that may (`mayShareCommit`), of
 * whatever tables and callers, while as many transactions as should be are under way. What a commit costs, and on
 * Aurora that is a quorum of storage nodes, is then paid once. Nobody waits for company: what comes alone goes alone,
 * at once. Appends are numbered, see `numberCells`, also one that comes alone.
 *
 * **Who is at fault stands alone.** A transaction that fails is taken back, and its statements are done one by one, so
 * that each has its own answer; where it was a duplicate that its sender reckons with, the others are done together
 * without it. The table that a server refused, or that somebody had locked, goes by itself for half a
 * minute, and as long as it stays so.
 *
 * **Nobody waits for long.** A turn that takes longer than it should passes its place on. Statements of the tables that
 * such a transaction has locked wait for its end, rather than each with a connection; all others go on.
 *
 * After an unclear end each caller is told so, as after one of its own statement.
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
  readonly #apart = new ApartTables();
  #waiting: Waiting[] = [];
  /** Turns that keep others from beginning, in the order in which they began. */
  readonly #running = new Set<Turn>();
  /** Transactions that passed their places on, and whose connections are taken all the same. */
  readonly #overdue = new Set<Turn>();
  #isDue = false;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the last turn was a lone statement: the next that comes is then not likely to have company either. */
  #isLonely = true;
  /** Until when appends are not numbered. */
  #unnumberedUntil = 0;
  /** Transactions whose numbers were refused, one after the other. */
  #refused = 0;
  /** Also clients that do not live for long come to it, in all. */
  #untilDrop = Math.ceil(Math.random() * RINGS_A_DROP);

  constructor(client: SqlClient, transactions: SqlTransactions) {
    this.#client = client;
    this.#transactions = transactions;
  }

  change(statement: Statement): Promise<SqlChange> {
    if (statement.mayShareCommit !== true) return this.#client.change(statement);
    if (tableOf(statement) === BELLS) return this.#ring(statement);
    if (this.#apart.has(tableOf(statement))) return this.#changeApart(statement);
    const isAlone =
      this.#isLonely && this.#running.size === 0 && this.#overdue.size === 0 && this.#waiting.length === 0;
    if (isAlone && !hasMore(statement)) return this.#runAlone(statement);
    const bytes = bytesOf(statement.parameters);
    if (bytes > MOST_BYTES) return isAlone ? this.#runAlone(statement) : this.#changeUnnumbered(statement);
    return new Promise((resolve, reject) => {
      // One that no driver takes is to fail nobody else.
      checkParameters(statement.parameters);
      const one: Waiting = { statement, since: performance.now(), bytes, resolve, reject };
      if (isAlone) return void this.#runTogether([one]);
      this.#waiting.push(one);
      if (this.#isDue) return;
      if (this.#running.size >= this.#transactions.atOnce) return this.#lookLater();
      this.#isDue = true;
      // Once everybody is here who comes in this turn of the event loop, from any connection.
      setImmediate(() => this.#beginDue());
    });
  }

  /** By itself. Where that failed just now nobody is told for half a minute: it is not worth a second wait. */
  async #ring(statement: Statement): Promise<SqlChange> {
    if (this.#apart.has(BELLS)) return { affectedRows: 0, insertId: 0 };
    try {
      return await this.#client.change(statement);
    } catch (error) {
      this.#apart.keep(BELLS);
      throw error;
    }
  }

  /** Who waits was not sent, and never will be. */
  close(): void {
    clearTimeout(this.#timer);
    for (const { reject } of this.#waiting.splice(0)) {
      reject(new SqlError('unreachable', 'the client was closed: nothing was sent'));
    }
  }

  #beginDue(): void {
    this.#isDue = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#retire();
    this.#sendApart();
    while (this.#running.size < this.#transactions.atOnce && this.#waiting.length > 0) {
      const some = this.#take();
      if (some.length === 0) break;
      const hasConnection = this.#overdue.size <= this.#transactions.spare;
      const isMore = some.length > 1 || some.some(({ statement }) => hasMore(statement));
      if (isMore && hasConnection) void this.#runTogether(some);
      else for (const { statement, resolve } of some) resolve(this.#runAlone(statement));
    }
    if (this.#waiting.length > 0) this.#lookLater();
  }

  /** Sends those that wait of tables that have come to go by themselves. */
  #sendApart(): void {
    if (this.#apart.isEmpty) return;
    const isApart = ({ statement }: Waiting): boolean => this.#apart.has(tableOf(statement));
    for (const { statement, resolve } of this.#waiting.filter(isApart)) resolve(this.#changeApart(statement));
    this.#waiting = this.#waiting.filter((one) => !isApart(one));
  }

  /** The first that wait, as many as go together; none whose table an overdue transaction may have locked. */
  #take(): readonly Waiting[] {
    const locked = new Set<string>();
    for (const { statements } of this.#overdue) for (const statement of statements) locked.add(tableOf(statement));
    const taken: Waiting[] = [];
    const left: Waiting[] = [];
    let bytes = 0;
    for (const one of this.#waiting) {
      const fits = taken.length < MOST_STATEMENTS && (taken.length === 0 || bytes + one.bytes <= MOST_BYTES);
      if (!fits || locked.has(tableOf(one.statement))) left.push(one);
      else {
        taken.push(one);
        bytes += one.bytes;
      }
    }
    this.#waiting = left;
    return taken;
  }

  async #runAlone(statement: Statement): Promise<SqlChange> {
    const turn = this.#begin([statement], false);
    try {
      return await this.#changeApart(statement);
    } finally {
      this.#end(turn);
    }
  }

  async #runTogether(some: readonly Waiting[]): Promise<void> {
    // In one order everywhere: two that meet wait for each other, and not in a circle.
    const ordered = some.toSorted((a, b) => compare(tableOf(a.statement), tableOf(b.statement)));
    const statements = statementsOf(ordered);
    const turn = this.#begin(statements, true);
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

  /** With numbered appends; those that could not be go once more as they are, and all of them where one was refused. */
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

  /**
   * Tells each what became of its statement, once they are committed.
   *
   * @returns those that were to be numbered and were not, who were told nothing
   */
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
      // Of rows that all of them lock it is not known whose it was.
      if (error.position < first && error.errno === LOCK_WAIT)
        for (const { statement } of ordered) if (statement.log) this.#apart.keep(tableOf(statement), SUSPECTED_MS);
      throw error.at(error.position - first);
    }
  }

  /** What tells followers of the shards that statements move: none where the last transaction failed for that. */
  #bellsOf(statements: readonly Statement[]): readonly Statement[] {
    const moved = statements.flatMap(({ moves }) => (moves ? [moves] : []));
    return moved.length === 0 || this.#apart.has(BELLS) ? [] : [ringBells(moved)];
  }

  /** Once in a while, for all who ring: nobody waits for it, and what is left of it another one does. */
  #dropBells(newest: number): void {
    this.#untilDrop -= 1;
    if (this.#untilDrop > 0) return;
    this.#untilDrop = RINGS_A_DROP;
    this.#client.change(dropBells(newest)).catch(() => undefined);
  }

  /**
   * One by one where none of them was done; where that is not known, or there is no writer, all are told. Where one found
   * what its sender reckons with, it alone is told, and the others wait for the next turn: once, for what each of many
   * finds would take them a turn each.
   */
  #settleSingly(some: readonly Waiting[], error: unknown): void {
    if (!(error instanceof SqlError) || error.failure === 'unclear' || READ_ONLY.has(error.errno)) {
      for (const { reject } of some) reject(error);
      return;
    }
    const atFault = error.position === undefined ? undefined : some[error.position];
    const isThere = error.failure === 'duplicate' && atFault?.statement.mayBeThere === true;
    if (atFault && isThere && some.every(({ isSecond }) => isSecond !== true)) {
      atFault.reject(error);
      const others = some.filter((one) => one !== atFault);
      this.#waiting = [...others.map((one): Waiting => ({ ...one, isSecond: true })), ...this.#waiting];
      return;
    }
    if (atFault && !isThere && (error.failure !== 'contention' || error.errno === LOCK_WAIT)) {
      this.#apart.keep(tableOf(atFault.statement));
    }
    for (const { statement, resolve } of some) resolve(this.#changeApart(statement));
  }

  /** A table whose lock is waited for in vain goes by itself from then on, and for as long as that is so. */
  async #changeApart(statement: Statement): Promise<SqlChange> {
    try {
      return await this.#changeUnnumbered(statement);
    } catch (error) {
      if (error instanceof SqlError && (error.errno === LOCK_WAIT || error.timedOut))
        this.#apart.keep(tableOf(statement));
      throw error;
    }
  }

  /** Commits a statement by itself. Nobody waits until it is said that where its log ends is not known any more. */
  async #changeUnnumbered(statement: Statement): Promise<SqlChange> {
    const change = await this.#client.change(statement);
    const { log } = statement;
    if (log && change.affectedRows > 0)
      for (const forget of forgetEnds([log])) this.#client.change(forget).catch(() => undefined);
    return change;
  }

  #begin(statements: readonly Statement[], isTransaction: boolean): Turn {
    const turn: Turn = { since: performance.now(), statements, isTransaction };
    this.#isLonely = statements.length === 1;
    this.#running.add(turn);
    return turn;
  }

  #end(turn: Turn): void {
    this.#running.delete(turn);
    this.#overdue.delete(turn);
    if (this.#waiting.length > 0 && !this.#isDue) {
      this.#isDue = true;
      setImmediate(() => this.#beginDue());
    }
  }

  /** Takes their places from turns that are overdue. The table of a lone statement goes by itself from then on. */
  #retire(): void {
    const now = performance.now();
    for (const turn of this.#running) {
      if (now - turn.since < OVERDUE_MS) break;
      this.#running.delete(turn);
      const [only] = turn.statements;
      if (only && !turn.isTransaction) this.#apart.keep(tableOf(only));
      else this.#overdue.add(turn);
    }
    const [longest] = this.#waiting;
    if (!longest || now - longest.since < MOST_WAIT_MS) return;
    const isLate = ({ since }: Waiting): boolean => now - since >= MOST_WAIT_MS;
    const late = this.#waiting.filter(isLate);
    this.#waiting = this.#waiting.filter((one) => !isLate(one));
    const refusal = `not sent within ${MOST_WAIT_MS} ms: transactions before it wait for locks`;
    for (const { reject } of late) reject(new SqlError('unreachable', refusal, { poolExhausted: true }));
  }

  /** Comes again once the first of those that run is overdue, or before long where none runs, if none ends before. */
  #lookLater(): void {
    if (this.#timer !== undefined) return;
    const [first] = this.#running;
    const leftMs = first ? first.since + OVERDUE_MS - performance.now() : 0;
    this.#timer = setTimeout(() => this.#beginDue(), Math.max(LOOK_MS, leftMs));
  }
}

function statementsOf(some: readonly Waiting[]): readonly Statement[] {
  return some.map(({ statement }) => statement);
}

/** Where it is not known whose error it is, it may be that of an append. */
function isOfAppend(some: readonly Waiting[], { position }: SqlError): boolean {
  const atFault = position === undefined ? undefined : some[position];
  return atFault === undefined || atFault.statement.log !== undefined;
}

/** More than itself goes with it, for which there have to be transactions. */
function hasMore({ thenSelect, moves, log }: Statement): boolean {
  return thenSelect !== undefined || moves !== undefined || log !== undefined;
}

/** What locks it waits for, and takes; those of the control database are rows of a table for all shards. */
function tableOf({ table = '' }: Statement): string {
  return table;
}

function bytesOf(parameters: readonly SqlParameter[]): number {
  let bytes = 0;
  for (const value of parameters) if (typeof value === 'object' && value !== null) bytes += value.length;
  return bytes;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
