import { LIMITS, type Role, type Served } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { byItem, type ItemRows } from '../sql/cell-rows.ts';
import { SqlError, type SqlClient, type SqlRow, type Statement } from '../sql/client.ts';
import { selectDivided, type DividedAnswer } from '../sql/select-divided.ts';

/** What a group answered to one item of a statement, and which node's word it is; or why that item alone could not be read. */
export type GroupItem = (ItemRows & Served & { readonly error?: undefined }) | { readonly error: SchemalessError };

export interface GroupRead {
  /** The statement for some of the items, which it numbers anew from 0: a part for each, where they are several. */
  readonly statement: (items: readonly number[]) => Statement;
  /** The added id that each item's shard must have reached, undefined where none was asked for. */
  readonly minima: readonly (number | undefined)[];
  readonly read: Role;
}

/**
 * Reads items of one group from the node asked for, and from the other when that one cannot answer. Items whose
 * `min_added_id` a reader has not reached yet are asked of the writer.
 *
 * `stale` is true when a reader answered and no satisfied `min_added_id` vouches for it, and when even the writer is
 * behind one: a replica promoted without the last cells.
 *
 * @throws SchemalessError `unavailable` when neither node could answer; what the servers refuse is an error of its item
 */
export async function readGroup(client: SqlClient, group: string, read: GroupRead): Promise<readonly GroupItem[]> {
  const all = read.minima.map((_, item) => item);
  const first = await askParts(client, group, read.read, partsOf(read.statement(all)));
  const items = byItem(first.rows, all.length).map((answer, item): GroupItem => {
    const error = first.errors.get(item);
    return error ? { error } : withServed(answer, first.roleOf(item), read.minima[item]);
  });
  const behind = all.filter((item) => {
    const answer = items[item];
    return answer && !answer.error && answer.served_by === 'reader' && answer.head < (read.minima[item] ?? 0);
  });
  if (behind.length === 0) return items;
  try {
    const { rows, refused } = await selectDivided(client, partsOf(read.statement(behind)), 'writer');
    for (const [place, answer] of byItem(rows, behind.length).entries()) {
      const item = behind[place] ?? 0;
      if (!refused.has(place)) items[item] = withServed(answer, 'writer', read.minima[item]);
    }
  } catch (error) {
    // The reader's answer stands, marked stale: it is behind, but it is an answer.
    if (!(error instanceof SqlError)) throw error;
  }
  return items;
}

/** What a statement is made of; one that is no union is its only part. */
export function partsOf(statement: Statement): readonly Statement[] {
  return statement.parts ?? [statement];
}

/** Bytes of bodies at which a statement's page ends, once it has one cell. */
export function pageBytes({ abilities }: SqlClient): number {
  return Math.min(LIMITS.answerBytes, abilities.bounds.pageBytes);
}

/**
 * Runs a reading statement on the node asked for, or on the other one when that one fails or refuses it.
 *
 * @throws SchemalessError `unavailable`, `answer_too_large`
 */
export async function askEither(client: SqlClient, group: string, role: Role, statement: Statement): Promise<{ readonly role: Role; readonly rows: readonly SqlRow[] }> {
  const { rows, roleOf, errors } = await askParts(client, group, role, [statement]);
  const error = errors.get(0);
  if (error) throw error;
  return { role: roleOf(0), rows };
}

/** What the parts of a union answered. */
export interface PartsAnswer {
  readonly rows: readonly SqlRow[];
  /** Who answered a part, by its place. */
  readonly roleOf: (part: number) => Role;
  /** Why parts could not be read at all, by their places. */
  readonly errors: ReadonlyMap<number, SchemalessError>;
}

/**
 * Runs the parts of a union, all of them on the node asked for; on the other one those that it refuses, since a table can
 * be damaged on one node alone, or all when it cannot answer. What both refuse fails by itself.
 *
 * @throws SchemalessError `unavailable` when neither node could answer
 */
export async function askParts(client: SqlClient, group: string, role: Role, parts: readonly Statement[]): Promise<PartsAnswer> {
  const { abilities, nodes } = client;
  const wanted: Role = abilities.readsFromReaders ? role : 'writer';
  const other: Role | undefined = !abilities.readsFromReaders || (wanted === 'writer' && nodes < 2) ? undefined : wanted === 'writer' ? 'reader' : 'writer';
  let first: DividedAnswer;
  try {
    first = await selectDivided(client, parts, wanted);
  } catch (error) {
    if (!(error instanceof SqlError) || other === undefined) throw toUnavailable(error, group);
    const { rows, refused } = await selectDivided(client, parts, other).catch((second: unknown) => Promise.reject(toUnavailable(second, group)));
    return { rows, roleOf: () => other, errors: toErrors(refused, group) };
  }
  const { rows, refused } = first;
  if (refused.size === 0 || other === undefined) return { rows, roleOf: () => wanted, errors: toErrors(refused, group) };
  const places = [...refused.keys()];
  // Where the other cannot answer either, what the first one said stands.
  const second = await selectDivided(client, places.flatMap((place) => parts[place] ?? []), other).catch((error: unknown): DividedAnswer => {
    if (error instanceof SqlError) return { rows: [], refused: new Map([...refused.values()].map((one, at) => [at, one])) };
    throw error;
  });
  const errors = toErrors(new Map([...second.refused].map(([at, error]) => [places[at] ?? -1, error])), group);
  return { rows: [...rows, ...second.rows], roleOf: (part) => (refused.has(part) ? other : wanted), errors };
}

function toErrors(refused: ReadonlyMap<number, SqlError>, group: string): ReadonlyMap<number, SchemalessError> {
  return new Map([...refused].map(([part, error]) => [part, toUnavailable(error, group)]));
}

function withServed(answer: ItemRows, role: Role, minimum: number | undefined): GroupItem {
  const reached = minimum !== undefined && answer.head >= minimum;
  return { ...answer, served_by: role, stale: !reached && (role === 'reader' || minimum !== undefined) };
}

/** What a failed statement means to a client of the datastore. */
export function toUnavailable(error: SqlError, group: string): SchemalessError;
export function toUnavailable(error: unknown, group: string): unknown;
export function toUnavailable(error: unknown, group: string): unknown {
  if (!(error instanceof SqlError)) return error;
  if (error.tooLarge) return new SchemalessError('answer_too_large', `${group} holds what cannot be read this way: ${error.message}`, { cause: error });
  const message = error.failure === 'rejected' ? `${group} refused a statement` : `no node of ${group} answered in time`;
  return new SchemalessError('unavailable', message, { cause: error, more: { group } });
}
