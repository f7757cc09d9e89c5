import type { Role } from '../cell.ts';
import { SqlError, type SqlClient, type SqlRow, type Statement, type Target } from '../sql/client.ts';
import { selectDivided, type DividedAnswer } from '../sql/select-divided.ts';
import { toUnavailable } from '../store/read-group.ts';

/** Why a shard could not be read where it was asked for first. */
export interface Refusal {
  readonly error: unknown;
  /** The other role had an answer. */
  readonly isAnswered: boolean;
}

/** What a group answered of many shards. */
export interface ShardsAnswer {
  /** `reader` where any part is a reader's. */
  readonly role: Role;
  /** In no order: the parts number their rows by themselves. */
  readonly rows: readonly SqlRow[];
  /** By place among the parts. */
  readonly refused: ReadonlyMap<number, Refusal>;
}

/** Parts asked by themselves at once, where the statement that they make takes too long. */
const SIDE_BY_SIDE = 8;

/**
 * Asks a group something of many shards, in one statement as a rule. A shard that cannot be read, since its table is
 * damaged, gone or locked, takes nothing from the others: the statement is divided until it stands alone, and it is
 * asked of the other role. Where no node answers, or none in time, that is the group's matter and not a shard's.
 *
 * @param role which node is asked first
 * @param statement a union with a part for each shard
 * @throws SchemalessError `unavailable`
 */
export async function askShards(client: SqlClient, group: string, role: Role, statement: Statement): Promise<ShardsAnswer> {
  const parts = statement.parts ?? [statement];
  const { readsFromReaders } = client.abilities;
  const first: Role = readsFromReaders ? role : 'writer';
  const other: Role = first === 'writer' ? 'reader' : 'writer';
  const hasOther = readsFromReaders && (other === 'writer' || client.nodes > 1);
  try {
    const { rows, refused } = await select(client, parts, first);
    if (refused.size === 0) return { role: first, rows, refused: new Map() };
    const left = [...refused.keys()];
    const again = hasOther ? await select(client, left.map((place) => parts[place] as Statement), other).catch(onlySql) : undefined;
    const isAnswered = (item: number): boolean => again !== undefined && !again.refused.has(item);
    return {
      role: first === 'writer' && left.some((_, item) => isAnswered(item)) ? 'reader' : first,
      rows: again ? [...rows, ...again.rows] : rows,
      refused: new Map(left.map((place, item) => [place, { error: toUnavailable(refused.get(place), group), isAnswered: isAnswered(item) }])),
    };
  } catch (error) {
    if (!(error instanceof SqlError) || !hasOther) throw toUnavailable(error, group);
  }
  try {
    const { rows, refused } = await select(client, parts, other);
    return { role: other, rows, refused: new Map([...refused].map(([place, error]) => [place, { error: toUnavailable(error, group), isAnswered: false }])) };
  } catch (error) {
    throw toUnavailable(error, group);
  }
}

/** Asks as `askShards` does where an answer without all shards is of no use. Throws why one could not be read. */
export async function askAllShards(client: SqlClient, group: string, role: Role, statement: Statement): Promise<ShardsAnswer> {
  const answer = await askShards(client, group, role, statement);
  const unread = answer.refused.values().find(({ isAnswered }) => !isAnswered);
  if (unread) throw unread.error;
  return answer;
}

/** Runs the union of the parts; refused ones stand alone, as do those that take longer than a statement may. */
async function select(client: SqlClient, parts: readonly Statement[], target: Target): Promise<DividedAnswer> {
  try {
    return await selectDivided(client, parts, target);
  } catch (error) {
    if (!(error instanceof SqlError) || !error.timedOut || !(await isAlive(client, target))) throw error;
    return parts.length === 1 ? { rows: [], refused: new Map([[0, error]]) } : eachAlone(client, parts, target, error);
  }
}

/** @param late why they are asked alone: thrown where the first ones are late, too, since it is no matter of one shard then */
async function eachAlone(client: SqlClient, parts: readonly Statement[], target: Target, late: SqlError): Promise<DividedAnswer> {
  const rows: SqlRow[] = [];
  const refused = new Map<number, SqlError>();
  for (let start = 0; start < parts.length; start += SIDE_BY_SIDE) {
    await Promise.all(
      parts.slice(start, start + SIDE_BY_SIDE).map(async (part, item) => {
        try {
          rows.push(...(await client.select(part, target)));
        } catch (error) {
          if (!(error instanceof SqlError) || (error.failure !== 'rejected' && !error.timedOut)) throw error;
          refused.set(start + item, error);
        }
      }),
    );
    if (refused.size >= SIDE_BY_SIDE && rows.length === 0) throw late;
  }
  return { rows, refused };
}

async function isAlive(client: SqlClient, target: Target): Promise<boolean> {
  return client.select({ sql: 'SELECT 1', parameters: [] }, target).then(
    () => true,
    () => false,
  );
}

function onlySql(error: unknown): undefined {
  if (!(error instanceof SqlError)) throw error;
}
