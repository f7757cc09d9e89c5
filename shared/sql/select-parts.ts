import { type SqlClient, SqlError, type Statement } from './client.ts';
import type { Role } from '../cell.ts';
import { type DividedAnswer, selectDivided } from './select-divided.ts';
import { SEVERAL_TABLES } from './union.ts';

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
