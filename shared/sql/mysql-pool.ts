import { createPool, type ConnectionOptions, type Pool, type PoolConnection, type ResultSetHeader } from 'mysql2';
import { SqlError, type SqlRow, type Statement } from './client.ts';
import { toSqlError } from './mysql-error.ts';
import { toPlanResult, TAKE_BACK, planText, type PlanResult, type SentText } from './mysql-plan.ts';
import { runIsolated } from './run-isolated.ts';
import type { ProcessPause } from './process-pause.ts';
import { GRACE_MS, timeLimit, type TimeLimit } from './time-limit.ts';

interface MysqlPoolOptions {
  readonly connection: ConnectionOptions;
  readonly connections: number;
  readonly acquireTimeoutMs: number;
  readonly queryTimeoutMs: number;
  readonly processPause: ProcessPause;
  readonly begin?: string;
}

/** An idle connection may have been dropped unnoticed after this time. */
const TRUSTED_MS = 30_000;
/** How long a connection is trusted to be the writer's, and a name not to lead to it. */
const WRITER_MS = 5000;
const NO_WRITER_MS = 500;
const IS_WRITER: SentText = {
  sql: "SELECT @@global.read_only IN ('0', 'OFF') AND @@global.innodb_read_only = 0",
  values: [],
};
const NO_TABLE = '';

interface Used {
  readonly connection: PoolConnection;
  readonly limit: TimeLimit;
  /** By the wall clock: a steady one may stand still in a frozen instance. */
  usedAt: number;
  /** The pool's `losses` when it last answered. */
  losses: number;
  /** When its server last confirmed that it is the writer. */
  writerAt: number;
}

type Give = (error: SqlError | undefined, used?: Used) => void;

interface Waiting {
  readonly table: string;
  readonly give: Give;
  timer: NodeJS.Timeout;
}

/**
 * Connections to one endpoint, opened when needed, each for one statement at a time.
 *
 * - A table may use as many as it leaves free: statements that wait for a locked table hold connections for seconds,
 *   and other tables must find one. Unions of several tables count as one table.
 * - A connection idle for half a minute, or since another one was found lost, is replaced before anything is sent on
 *   it.
 */
export class MysqlPool {
  readonly #options: MysqlPoolOptions;
  readonly #pool: Pool;
  readonly #known = new WeakMap<PoolConnection, Used>();
  readonly #ofTable = new Map<string, number>();
  #busy = 0;
  #hasEnded = false;
  #waiting: Waiting[] = [];
  #losses = 0;
  #noWriterUntil = 0;

  constructor(options: MysqlPoolOptions) {
    this.#options = options;
    const { connections } = options;
    // The pool closes idle connections only if fewer may be idle than open. An open one keeps a serverless cluster
    // awake.
    this.#pool = createPool({
      ...options.connection,
      connectionLimit: connections,
      maxIdle: Math.max(1, connections - 1),
      idleTimeout: TRUSTED_MS,
    });
    const { begin } = options;
    if (begin === undefined) return;
    this.#pool.on('connection', (connection) => {
      connection.query(begin, (failure) => {
        if (failure) connection.destroy();
      });
    });
  }

  /** @param ofWriter whether its answer is worth nothing if the server is not the writer */
  run<T>({ sql, parameters, table = NO_TABLE }: Statement, ofWriter = false): Promise<T> {
    return new Promise((resolve, reject) => {
      if (ofWriter && Date.now() < this.#noWriterUntil) return reject(notWriter());
      this.#acquire(table, (error, used) => {
        if (!used) return reject(error as SqlError);
        const send = (): void =>
          this.#query<T>(used, { sql, values: parameters }, (failure, result, isOver) => {
            this.#leave(table, () => (isOver ? used.connection.release() : used.connection.destroy()));
            if (failure) reject(failure);
            else resolve(result as T);
          });
        if (!ofWriter || Math.abs(Date.now() - used.writerAt) < WRITER_MS) return send();
        this.#askWhetherWriter(used, (failure) => {
          if (!failure) return send();
          this.#leave(table, () => used.connection.destroy());
          reject(failure);
        });
      });
    });
  }

  /** After a failover a name leads elsewhere for a moment, and connections stay where they were opened. */
  #askWhetherWriter(used: Used, tell: (failure: SqlError | undefined) => void): void {
    this.#query<readonly SqlRow[]>(used, IS_WRITER, (failure, rows) => {
      if (failure) return tell(failure);
      used.writerAt = Date.now();
      if (Number(rows?.[0]?.[0]) === 1) return tell(undefined);
      this.#losses += 1;
      this.#noWriterUntil = used.writerAt + NO_WRITER_MS;
      tell(notWriter());
    });
  }

  /** Runs statements as one transaction, and the reads behind it. Throws `SqlError` with a `position`. */
  runPlan(statements: readonly Statement[]): Promise<readonly PlanResult[]> {
    const plan = planText(statements);
    return new Promise((resolve, reject) => {
      this.#acquire(NO_TABLE, (error, used) => {
        if (!used) return reject(error as SqlError);
        const { connection } = used;
        const leave = (isOver: boolean): void =>
          this.#leave(NO_TABLE, () => (isOver ? connection.release() : connection.destroy()));
        this.#query<unknown>(used, plan, (failure, results, isOver, changes) => {
          if (changes.length >= plan.changes) {
            // Committed, whatever became of the reads.
            leave(isOver);
            return resolve(toPlanResult(statements, plan, changes, failure ? undefined : results));
          }
          if (!failure || !isOver) {
            leave(false);
            const few = `${changes.length} answers to ${statements.length} statements`;
            return reject(failure ?? new SqlError('unclear', few));
          }
          if (plan.before === 0) {
            leave(true);
            return reject(failure);
          }
          // The statements before it hold their locks until the rollback.
          this.#query(used, TAKE_BACK, (notTakenBack) => {
            leave(!notTakenBack);
            reject(failure);
          });
        });
      });
    });
  }

  /** Sends a text. `isOver`: no later statement could wait behind it on this connection, or get its answer. */
  #query<T>(
    used: Used,
    { sql, values, before }: SentText,
    tell: (
      failure: SqlError | undefined,
      result: T | undefined,
      isOver: boolean,
      changes: readonly ResultSetHeader[],
    ) => void,
  ): void {
    const { connection, limit } = used;
    /** Answers of changes, in order; reads bring none. */
    const changes: ResultSetHeader[] = [];
    limit.begin((wasPaused) => tell(this.#late(used, wasPaused), undefined, false, changes));
    const query = connection.query({ sql, values: [...values] }, (failure, result) => {
      if (!limit.end()) return;
      if (!failure) {
        used.losses = this.#losses;
        return tell(undefined, result as T, true, changes);
      }
      const position = before === undefined || changes.length < before ? undefined : changes.length - before;
      const sorted = toSqlError(failure, true, position);
      if (sorted.failure === 'unclear' && sorted.errno === 0) this.#losses += 1;
      // A read-only server is not the writer any more: the next connection must be new.
      const isOver = sorted.failure !== 'unclear' && sorted.failure !== 'unreachable';
      if (isOver) used.losses = this.#losses;
      tell(sorted, undefined, isOver, changes);
    });
    if (before !== undefined) query.on('result', (header) => changes.push(header as unknown as ResultSetHeader));
  }

  runIsolated<T>(statement: Statement): Promise<T> {
    return runIsolated<T>(this.#options.connection, statement);
  }

  /** Finishes statements under way; those that wait for a connection are not sent. */
  end(): Promise<void> {
    this.#hasEnded = true;
    for (const { timer, give } of this.#waiting.splice(0)) {
      clearTimeout(timer);
      give(ended());
    }
    return new Promise((resolve) => {
      this.#pool.end(() => resolve());
    });
  }

  #acquire(table: string, give: Give): void {
    if (this.#hasEnded) return give(ended());
    const begun = performance.now();
    if (this.#mayHave(table)) return this.#enter(table, begun, give);
    const { acquireTimeoutMs, processPause } = this.#options;
    const leave = (): void => {
      // Answers that would have freed a connection may be here, unread.
      if (processPause.since(begun)) waiting.timer = setTimeout(refuse, GRACE_MS);
      else refuse();
    };
    const refuse = (): void => {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      give(new SqlError('unreachable', `no connection free within ${acquireTimeoutMs} ms`, { poolExhausted: true }));
    };
    const waiting: Waiting = { table, give, timer: setTimeout(leave, acquireTimeoutMs) };
    this.#waiting.push(waiting);
  }

  #mayHave(table: string): boolean {
    const free = this.#options.connections - this.#busy;
    return free > 0 && (table === NO_TABLE || (this.#ofTable.get(table) ?? 0) < free);
  }

  #enter(table: string, begun: number, give: Give): void {
    this.#busy += 1;
    this.#ofTable.set(table, (this.#ofTable.get(table) ?? 0) + 1);
    this.#connect(table, begun, give);
  }

  #connect(table: string, begun: number, give: Give): void {
    this.#pool.getConnection((error, connection) => {
      if (!connection) {
        // This process was paused while the connection opened: retry.
        if (this.#options.processPause.since(begun)) return this.#connect(table, Number.POSITIVE_INFINITY, give);
        this.#leave(table);
        return give(toSqlError(error, false));
      }
      const now = Date.now();
      const used = this.#known.get(connection);
      if (!used) return give(undefined, this.#remember(connection, now));
      if (Math.abs(now - used.usedAt) > TRUSTED_MS || used.losses < this.#losses) {
        connection.destroy();
        return this.#connect(table, begun, give);
      }
      used.usedAt = now;
      give(undefined, used);
    });
  }

  /** Returns why a statement is given up. One sent before a freeze lost its connection as an idle one does. */
  #late({ usedAt }: Used, wasPaused: boolean): SqlError {
    const { queryTimeoutMs } = this.#options;
    if (wasPaused && Math.abs(Date.now() - usedAt) > queryTimeoutMs + TRUSTED_MS)
      return new SqlError('unclear', 'the connection was frozen with this process');
    return new SqlError(
      'unclear',
      `no answer within ${queryTimeoutMs} ms`,
      wasPaused ? { wasPaused } : { timedOut: true },
    );
  }

  #remember(connection: PoolConnection, now: number): Used {
    const { queryTimeoutMs, processPause } = this.#options;
    const limit = timeLimit(queryTimeoutMs, processPause);
    const used: Used = { connection, limit, usedAt: now, losses: this.#losses, writerAt: 0 };
    this.#known.set(connection, used);
    return used;
  }

  #leave(table: string, giveBack: () => void = () => undefined): void {
    giveBack();
    this.#busy -= 1;
    const left = (this.#ofTable.get(table) ?? 0) - 1;
    if (left > 0) this.#ofTable.set(table, left);
    else this.#ofTable.delete(table);
    if (this.#waiting.length > 0) this.#serve();
  }

  #serve(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const one of waiting) {
      if (!this.#mayHave(one.table)) this.#waiting.push(one);
      else {
        clearTimeout(one.timer);
        this.#enter(one.table, performance.now(), one.give);
      }
    }
  }
}

function notWriter(): SqlError {
  return new SqlError('unreachable', 'the name of the writer leads to a read-only server', { errno: 1836 });
}

function ended(): SqlError {
  return new SqlError('unreachable', 'the pool has ended: nothing was sent');
}
