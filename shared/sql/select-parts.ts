import { SIGN_OF_LIFE, type SqlClient, SqlError, type Statement } from './client.ts';
import type { Role } from '../cell.ts';
import { comesWithin } from './comes-within.ts';
import { type DividedAnswer, selectDivided } from './select-divided.ts';
import { SEVERAL_TABLES } from './union.ts';

/** How long a table may take to show one row while its node answers. */
const PATIENCE_MS = 500;
/** How long a locked table is left out of unions: about as long as an ALTER may take. */
const REST_MS = 30_000;
/** ER_LOCK_WAIT_TIMEOUT */
const LOCK_WAIT = 1205;

interface LockedTables {
  readonly until: Map<string, number>;
  readonly looks: Map<string, Promise<unknown>>;
}

const known = new WeakMap<SqlClient, Map<Role, LockedTables>>();

/**
 * Runs a union as `selectDivided` does. After a timeout it asks each table for one row; those that show none while the
 * node answers are `refused`, and the rest is asked again. Unions leave such a table out for a while, or until it
 * answers. A statement that is slow by itself fails as it is. Throws SqlError if the node does not answer, or no table
 * is locked.
 */
export function selectParts(client: SqlClient, parts: readonly Statement[], role: Role): Promise<DividedAnswer> {
  const locked = lockedTablesOf(client, role);
  return locked.until.size === 0 ? selectQuick(client, parts, role, locked) : selectAround(client, parts, role, locked);
}

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

/** Returns the parts at some positions. */
export function partsAt(parts: readonly Statement[], positions: readonly number[]): readonly Statement[] {
  return positions.map((position) => parts[position] as Statement);
}

function isLate(error: unknown): boolean {
  return (
    error instanceof SqlError &&
    (error.failure === 'unclear' || error.failure === 'contention') &&
    (error.timedOut || error.errno === LOCK_WAIT)
  );
}

/** Looks which tables are locked. Returns false if that is unknown: the node does not answer, or its pool is full. */
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
  // Asked after them, and of none of them: it waits for whatever they wait for.
  const node = client.select(SIGN_OF_LIFE, role);
  if (!(await comesWithin(PATIENCE_MS, node))) return false;
  const looks = [...tables].map((table) => locked.looks.get(table)?.catch(() => undefined));
  await comesWithin(PATIENCE_MS, Promise.all(looks));
  for (const table of late) locked.until.set(table, performance.now() + REST_MS);
  return true;
}

/** Asks a table for one row; concurrent callers share the look. */
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

interface DividedParts {
  readonly quick: readonly number[];
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
