import type { Role } from '../cell.ts';
import { SqlError, type SqlClient, type SqlRow, type Statement } from './client.ts';
import { selectDivided, type DividedAnswer } from './select-divided.ts';
import { unionOf } from './union.ts';

/** Parts asked by themselves at once, where the statement that they make takes too long. */
const SIDE_BY_SIDE = 8;
/** How long an answer is waited for where a part is asked by itself: its table may be the one that is locked. */
const PATIENCE_MS = 500;
/** How long a table that did not answer by itself is left out of unions: as long as a statement that changes a table may well go on. */
const REST_MS = 30_000;

/** Tables of one node that did not answer by themselves in good time. */
interface SlowTables {
  /** Until when, by `performance.now()`. */
  readonly until: Map<string, number>;
  /** Those that a statement is waiting for now. */
  readonly asked: Set<string>;
}

const known = new WeakMap<SqlClient, Map<Role, SlowTables>>();

/**
 * Runs the union of several statements as `selectDivided` does. Where it takes a whole time limit and the node still shows
 * a sign of life, somebody may have locked one of its tables: each part is asked by itself then, and one that does not
 * answer soon is `refused`. For a while its table is left out of unions; one statement at a time goes on asking it, and its
 * answer ends that.
 *
 * @throws SqlError where the node does not answer, or no part of many in good time: it is no matter of one table then
 */
export async function selectParts(client: SqlClient, parts: readonly Statement[], role: Role): Promise<DividedAnswer> {
  const slow = slowTablesOf(client, role);
  if (slow.until.size === 0) return selectQuick(client, parts, role, slow);
  const quick: number[] = [];
  const apart = new Map<string, number[]>();
  for (const [place, { table }] of parts.entries()) {
    if (table === undefined || !isSlow(slow, table)) quick.push(place);
    else apart.set(table, [...(apart.get(table) ?? []), place]);
  }
  const partsAt = (places: readonly number[]): Statement[] => places.flatMap((place) => parts[place] ?? []);
  const [answer, ...answers] = await Promise.all([
    selectQuick(client, partsAt(quick), role, slow),
    ...apart.values().map((places) => askAlone(client, unionOf(partsAt(places)), role, slow)),
  ]);
  const refused = new Map([...answer.refused].map(([item, error]) => [quick[item] ?? -1, error]));
  for (const [item, places] of [...apart.values()].entries()) for (const error of answers[item]?.refused.values() ?? []) for (const place of places) refused.set(place, error);
  return { rows: [answer, ...answers].flatMap(({ rows }) => rows), refused };
}

async function selectQuick(client: SqlClient, parts: readonly Statement[], role: Role, slow: SlowTables): Promise<DividedAnswer> {
  try {
    return await selectDivided(client, parts, role);
  } catch (error) {
    if (!(error instanceof SqlError) || !(error.timedOut || error.stoodStill) || !(await isAlive(client, role))) throw error;
    if (parts.length > 1) return eachAlone(client, parts, role, { slow, late: error });
    if (parts[0]?.table !== undefined) slow.until.set(parts[0].table, performance.now() + REST_MS);
    return { rows: [], refused: new Map([[0, error]]) };
  }
}

/** `late`: why they are asked alone; thrown where the first ones are late, too. */
async function eachAlone(client: SqlClient, parts: readonly Statement[], role: Role, { slow, late }: { readonly slow: SlowTables; readonly late: SqlError }): Promise<DividedAnswer> {
  const rows: SqlRow[] = [];
  const refused = new Map<number, SqlError>();
  for (let start = 0; start < parts.length; start += SIDE_BY_SIDE) {
    const answers = await Promise.all(parts.slice(start, start + SIDE_BY_SIDE).map((part) => askAlone(client, part, role, slow)));
    for (const [item, answer] of answers.entries()) {
      rows.push(...answer.rows);
      for (const error of answer.refused.values()) refused.set(start + item, error);
    }
    if (refused.size >= SIDE_BY_SIDE && rows.length === 0) throw late;
  }
  return { rows, refused };
}

/** Asks a part by itself, which may be left to go on. */
async function askAlone(client: SqlClient, part: Statement, role: Role, { until, asked }: SlowTables): Promise<DividedAnswer> {
  const { table = '' } = part;
  const tooSlow = new SqlError('unclear', `${table || 'a statement'}: no answer within ${PATIENCE_MS} ms`, { timedOut: true });
  if (asked.has(table) && until.has(table)) return { rows: [], refused: new Map([[0, tooSlow]]) };
  asked.add(table);
  const answer = client.select(part, role).finally(() => asked.delete(table));
  answer.then(() => until.delete(table), () => undefined);
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      until.set(table, performance.now() + REST_MS);
      reject(tooSlow);
    }, PATIENCE_MS);
  });
  try {
    return { rows: await Promise.race([answer, patience]), refused: new Map() };
  } catch (error) {
    if (!(error instanceof SqlError) || (error.failure !== 'rejected' && !error.timedOut && !error.stoodStill)) throw error;
    return { rows: [], refused: new Map([[0, error]]) };
  } finally {
    clearTimeout(timer);
  }
}

function slowTablesOf(client: SqlClient, role: Role): SlowTables {
  let roles = known.get(client);
  if (!roles) known.set(client, (roles = new Map()));
  let slow = roles.get(role);
  if (!slow) roles.set(role, (slow = { until: new Map(), asked: new Set() }));
  return slow;
}

function isSlow({ until }: SlowTables, table: string): boolean {
  const end = until.get(table);
  if (end !== undefined && performance.now() >= end) until.delete(table);
  return until.has(table);
}

/** On a connection of its own: those of the pool may all wait for the same. */
function isAlive(client: SqlClient, role: Role): Promise<boolean> {
  return client.select({ sql: 'SELECT 1', parameters: [], apart: true }, role).then(
    () => true,
    () => false,
  );
}
