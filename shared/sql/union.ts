import { SqlError, type SqlClient, type SqlRow, type Statement, type Target } from './client.ts';
import type { Role } from '../cell.ts';

/** In place of a table's name: several of them, any of which may keep the union waiting. */
const SEVERAL_TABLES = 'several tables';

/**
 * The rows of several statements, each a SELECT that can stand in a union. Their order is lost.
 *
 * A way to MySQL that bounds statements and results may run the parts in several statements: what has to be of one
 * snapshot belongs into one part.
 */
export function unionOf(parts: readonly Statement[]): Statement {
  const [only] = parts;
  if (only && parts.length === 1) return only;
  if (last?.parts !== parts) last = makeUnion(parts);
  return last;
}

/**
 * The union that was made last: its text is long, and whoever asks for it, so that it may be divided where it is refused,
 * takes it apart and together again at once. One alone: a WeakMap would keep each, which holds its own key, until the
 * whole heap is collected, and was more than half of what reads left to that.
 */
let last: Statement | undefined;

function makeUnion(parts: readonly Statement[]): Statement {
  const table = tableOf(parts);
  return {
    sql: parts.map(({ sql }) => sql).join(' UNION ALL '),
    parameters: parts.flatMap(({ parameters }) => parameters),
    parts,
    ...(table === undefined ? {} : { table }),
  };
}

function tableOf(parts: readonly Statement[]): string | undefined {
  let found: string | undefined;
  for (const { table } of parts) {
    if (table === undefined || table === found) continue;
    if (found !== undefined) return SEVERAL_TABLES;
    found = table;
  }
  return found;
}

interface DividedAnswer {
  /** Of all parts that were answered, in no order. */
  readonly rows: readonly SqlRow[];
  /** By place among the parts: why the server refused that part by itself. */
  readonly refused: ReadonlyMap<number, SqlError>;
}

/**
 * Runs the union of several statements. Where the server refuses it (`rejected`: a table that is damaged or gone, a
 * right that is missing) it is divided by halves until each part at fault stands alone: one table that cannot be read
 * takes nothing from those that are asked with it.
 *
 * A part may be a union itself, and is not divided further: what is of one shard, say, fails or is answered together.
 * Costs nothing while nothing is refused; n parts of which one is at fault, about 2 log2 n statements more, one after
 * the other. Where a right is missing for the first log2 n + 2 tables, and none was answered, it is taken to be missing
 * for all.
 *
 * @param parts numbered by their own text where it matters which row is whose; none, and nothing is asked
 * @throws SqlError for every other reason: they say nothing of a single part
 */
export function selectDivided(
  client: Pick<SqlClient, 'select'>,
  parts: readonly Statement[],
  target: Target,
): Promise<DividedAnswer> {
  if (parts.length === 0) return Promise.resolve(allOf([]));
  return client
    .select(unionOf(parts), target)
    .then(allOf, (error: unknown) => divide(client, parts, target, onlyRefused(error)));
}

function allOf(rows: readonly SqlRow[]): DividedAnswer {
  return { rows, refused: NONE };
}

/** Of a database, of a table, of a column. */
const MISSING_RIGHTS: ReadonlySet<number> = new Set([1044, 1142, 1143]);

const NONE: ReadonlyMap<number, SqlError> = new Map();

/** @param error why the union of all was refused */
async function divide(
  client: Pick<SqlClient, 'select'>,
  parts: readonly Statement[],
  target: Target,
  error: SqlError,
): Promise<DividedAnswer> {
  const rows: SqlRow[] = [];
  const refused = new Map<number, SqlError>();
  const most = Math.ceil(Math.log2(parts.length)) + 2;
  /** Tables that were refused for a right, while none was answered. */
  const forbidden = new Set<string | undefined>();
  let isAnswered = false;

  async function ask(from: number, to: number): Promise<void> {
    if (!isAnswered && forbidden.size >= most) {
      for (let part = from; part < to; part += 1) refused.set(part, error);
      return;
    }
    try {
      for (const row of await client.select(unionOf(parts.slice(from, to)), target)) rows.push(row);
      isAnswered = true;
    } catch (error) {
      await askHalves(from, to, onlyRefused(error));
    }
  }

  async function askHalves(from: number, to: number, error: SqlError): Promise<void> {
    if (to - from === 1) {
      refused.set(from, error);
      if (MISSING_RIGHTS.has(error.errno)) forbidden.add(parts[from]?.table);
      return;
    }
    const middle = Math.ceil((from + to) / 2);
    await ask(from, middle);
    await ask(middle, to);
  }

  await askHalves(0, parts.length, error);
  return { rows, refused };
}

/** Throws whatever is no refusal by the server. */
function onlyRefused(error: unknown): SqlError {
  if (error instanceof SqlError && error.failure === 'rejected') return error;
  throw error;
}

/** How long a table may take to show one row, while the node itself answers. */
const PATIENCE_MS = 500;
/** How long a table that did not is left out of unions: as long as a statement that changes a table may well go on. */
const REST_MS = 30_000;
/** Of a lock wait that a server gave up: nobody else is rolled back for a read. */
const LOCK_WAIT = 1205;

/** Tables of one node that show nothing, since somebody has locked them. */
interface LockedTables {
  /** Until when they are taken for locked, by `performance.now()`. */
  readonly until: Map<string, number>;
  /** Those that are being looked at, each by one statement. */
  readonly looks: Map<string, Promise<unknown>>;
}

const known = new WeakMap<SqlClient, Map<Role, LockedTables>>();

/**
 * Runs the union of several statements as `selectDivided` does. Where it takes a whole time limit, somebody may have
 * locked one of its tables: each is asked for one row, and those that show none are `refused`, while the node itself
 * still answers; the rest are asked again. For a while such a table is left out of unions; its first answer ends that.
 *
 * A statement that is slow by itself is no locked table: it fails as it is.
 *
 * @throws SqlError where the node does not answer, or no table is locked
 */
export function selectParts(client: SqlClient, parts: readonly Statement[], role: Role): Promise<DividedAnswer> {
  const locked = lockedTablesOf(client, role);
  return locked.until.size === 0 ? selectQuick(client, parts, role, locked) : selectAround(client, parts, role, locked);
}

/** Leaves out what is known to be locked, and looks whether it still is. */
async function selectAround(
  client: SqlClient,
  parts: readonly Statement[],
  role: Role,
  locked: LockedTables,
): Promise<DividedAnswer> {
  for (const table of tablesOf(parts)) if (isLocked(locked, table)) void look(client, role, locked, table);
  const { quick, late } = divideByLocks(parts, locked);
  if (late.size === 0) return selectQuick(client, parts, role, locked);
  return withLate(quick, late, await selectQuick(client, partsAt(parts, quick), role, locked));
}

async function selectQuick(
  client: SqlClient,
  parts: readonly Statement[],
  role: Role,
  locked: LockedTables,
): Promise<DividedAnswer> {
  try {
    return await selectDivided(client, parts, role);
  } catch (error) {
    if (!isLate(error) || !(await findLocked(client, role, locked, tablesOf(parts)))) throw error;
    const { quick, late } = divideByLocks(parts, locked);
    if (late.size === 0) throw error;
    return withLate(quick, late, await selectDivided(client, partsAt(parts, quick), role));
  }
}

function partsAt(parts: readonly Statement[], positions: readonly number[]): readonly Statement[] {
  return positions.map((position) => parts[position] as Statement);
}

function isLate(error: unknown): boolean {
  return (
    error instanceof SqlError &&
    (error.failure === 'unclear' || error.failure === 'contention') &&
    (error.timedOut || error.errno === LOCK_WAIT)
  );
}

/**
 * Looks which of the tables are locked. Returns false where that is not known: the node does not answer either, its
 * connections are all in use, or this process is too busy to hear it.
 */
async function findLocked(
  client: SqlClient,
  role: Role,
  locked: LockedTables,
  tables: ReadonlySet<string>,
): Promise<boolean> {
  const late = new Set(tables);
  for (const table of tables)
    void look(client, role, locked, table).then(
      () => late.delete(table),
      (error: unknown) => isLate(error) || late.delete(table),
    );
  // Asked after them, and of none of them: what it had to wait for, they had to.
  const node = client.select({ sql: 'SELECT 1', parameters: [] }, role);
  if (!(await comesSoon(node))) return false;
  await comesSoon(Promise.all([...tables].map((table) => locked.looks.get(table)?.catch(() => undefined))));
  for (const table of late) locked.until.set(table, performance.now() + REST_MS);
  return true;
}

/** Asks a table for one row. Whoever asks meanwhile shares it. */
function look(client: SqlClient, role: Role, { until, looks }: LockedTables, table: string): Promise<unknown> {
  let asked = looks.get(table);
  if (!asked) {
    asked = client
      .select({ sql: `SELECT 1 FROM ${table} LIMIT 1`, parameters: [], table }, role)
      .finally(() => looks.delete(table));
    looks.set(table, asked);
    asked.then(
      () => until.delete(table),
      () => undefined,
    );
  }
  return asked;
}

/** Whether there is an answer in good time. */
async function comesSoon(answer: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, false);
  });
  try {
    return await Promise.race([
      answer.then(
        () => true,
        () => false,
      ),
      patience,
    ]);
  } finally {
    clearTimeout(timer);
  }
}

interface DividedParts {
  /** Places of parts whose tables are not known to be locked. */
  readonly quick: readonly number[];
  /** By place, why the others are not asked. */
  readonly late: ReadonlyMap<number, SqlError>;
}

function divideByLocks(parts: readonly Statement[], locked: LockedTables): DividedParts {
  const quick: number[] = [];
  const late = new Map<number, SqlError>();
  for (const [position, { table }] of parts.entries()) {
    if (table === undefined || !isLocked(locked, table)) quick.push(position);
    else
      late.set(
        position,
        new SqlError('unclear', `${table} shows nothing within ${PATIENCE_MS} ms`, { timedOut: true }),
      );
  }
  return { quick, late };
}

function withLate(
  quick: readonly number[],
  late: ReadonlyMap<number, SqlError>,
  { rows, refused }: DividedAnswer,
): DividedAnswer {
  return {
    rows,
    refused: new Map([...late, ...[...refused].map(([item, error]): [number, SqlError] => [quick[item] ?? -1, error])]),
  };
}

function tablesOf(parts: readonly Statement[]): Set<string> {
  const tables = new Set<string>();
  for (const { table } of parts) if (table !== undefined && table !== SEVERAL_TABLES) tables.add(table);
  return tables;
}

function isLocked({ until }: LockedTables, table: string): boolean {
  const end = until.get(table);
  if (end !== undefined && performance.now() >= end) until.delete(table);
  return until.has(table);
}

function lockedTablesOf(client: SqlClient, role: Role): LockedTables {
  let roles = known.get(client);
  if (!roles) known.set(client, (roles = new Map()));
  let locked = roles.get(role);
  if (!locked) roles.set(role, (locked = { until: new Map(), looks: new Map() }));
  return locked;
}
