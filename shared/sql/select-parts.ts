import { HEALTH_CHECK, type SqlClient, SqlError, type Statement } from './client.ts';
import type { Role } from '../cell.ts';
import { comesWithin } from './comes-within.ts';
import { type DividedAnswer, selectDivided } from './select-divided.ts';
import { Quarantine } from './quarantine.ts';
import { SEVERAL_TABLES } from './union.ts';

/** How long a table may take to show one row while its node answers. */
const PATIENCE_MS = 500;
interface LockedTables {
  /** Left out of unions for about as long as an ALTER may take. */
  readonly isolated: Quarantine;
  readonly polls: Map<string, Promise<unknown>>;
}

const known = new WeakMap<SqlClient, Record<Role, LockedTables>>();

/**
 * Runs a union as `selectDivided` does. After a timeout it asks each table for one row; those that show none while the
 * node answers are `refused`, and the rest is asked again. Unions leave such a table out for a while, or until it
 * answers. A statement that is slow by itself fails as it is. Throws SqlError if the node does not answer, or no table
 * is locked.
 */
export function selectParts(client: SqlClient, parts: readonly Statement[], role: Role): Promise<DividedAnswer> {
  const locked = lockedTablesOf(client, role);
  return locked.isolated.isEmpty ? selectQuick(client, parts, role, locked) : selectAround(client, parts, role, locked);
}

async function selectAround(
  client: SqlClient,
  parts: readonly Statement[],
  role: Role,
  locked: LockedTables,
): Promise<DividedAnswer> {
  for (const table of tablesOf(parts)) if (locked.isolated.has(table)) void poll(client, role, locked, table);
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
    (error.timedOut || error.isLockWait)
  );
}

/** Finds which tables are locked. Returns false if that is unknown: the node does not answer, or its pool is full. */
async function findLocked(
  client: SqlClient,
  role: Role,
  locked: LockedTables,
  tables: ReadonlySet<string>,
): Promise<boolean> {
  const late = new Set(tables);
  for (const table of tables)
    void poll(client, role, locked, table).then(
      () => late.delete(table),
      (error: unknown) => isLate(error) || late.delete(table),
    );
  // Asked after them, and of none of them: it waits for whatever they wait for.
  const node = client.select(HEALTH_CHECK, role);
  if (!(await comesWithin(PATIENCE_MS, node))) return false;
  const polls = [...tables].map((table) => locked.polls.get(table)?.catch(() => undefined));
  await comesWithin(PATIENCE_MS, Promise.all(polls));
  for (const table of late) locked.isolated.keep(table);
  return true;
}

/** Asks a table for one row; concurrent callers share the poll. */
function poll(client: SqlClient, role: Role, { isolated, polls }: LockedTables, table: string): Promise<unknown> {
  let asked = polls.get(table);
  if (!asked) {
    asked = client
      .select({ sql: `SELECT 1 FROM ${table} LIMIT 1`, parameters: [], table }, role)
      .finally(() => polls.delete(table));
    polls.set(table, asked);
    asked.then(
      () => isolated.release(table),
      () => undefined,
    );
  }
  return asked;
}

interface DividedParts {
  readonly quick: readonly number[];
  readonly late: ReadonlyMap<number, SqlError>;
}

function divideByLocks(parts: readonly Statement[], { isolated }: LockedTables): DividedParts {
  const quick: number[] = [];
  const late = new Map<number, SqlError>();
  for (const [position, { table }] of parts.entries()) {
    if (table === undefined || !isolated.has(table)) quick.push(position);
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

function lockedTablesOf(client: SqlClient, role: Role): LockedTables {
  let roles = known.get(client);
  const none = (): LockedTables => ({ isolated: new Quarantine(), polls: new Map() });
  if (!roles) known.set(client, (roles = { writer: none(), reader: none() }));
  return roles[role];
}
