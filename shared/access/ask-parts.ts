import { LIMITS, type Role, type Served } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { SqlError, unlessFailed, type SqlClient, type SqlRow, type Statement } from '../sql/client.ts';
import { partsAt, selectParts } from '../sql/select-parts.ts';
import { byItem, type ItemRows } from '../sql/cell-rows.ts';
import type { Groups } from './groups.ts';

export interface Refusal {
  readonly error: SchemalessError;
  /** The other role answered. */
  readonly isAnswered: boolean;
}

interface PartsAnswer {
  readonly role: Role;
  /** In no order; parts number their own rows. */
  readonly rows: readonly SqlRow[];
  readonly refused: ReadonlyMap<number, Refusal>;
  readonly roleOf: (part: number) => Role;
  readonly errorOf: (part: number) => SchemalessError | undefined;
}

/**
 * Asks a group about many shards, in one statement as a rule. A shard that cannot be read is asked of the other role
 * alone, and fails alone. A node that does not answer at all is replaced by the other one. `role`: asked first. Throws
 * SchemalessError `unavailable` when no node answers.
 */
export async function askParts(
  client: SqlClient,
  group: string,
  role: Role,
  parts: readonly Statement[],
): Promise<PartsAnswer> {
  const { readsFromReaders } = client.abilities;
  const first: Role = readsFromReaders ? role : 'writer';
  const other: Role = first === 'writer' ? 'reader' : 'writer';
  const hasOther = readsFromReaders && (other === 'writer' || client.nodes > 1);
  const refusal = (error: SqlError, isAnswered = false): Refusal => ({
    error: toUnavailable(error, group),
    isAnswered,
  });
  const begun = await selectParts(client, parts, first).catch((error: unknown) => {
    if (!(error instanceof SqlError) || !hasOther) throw toUnavailable(error, group);
  });
  if (!begun) {
    const { rows, refused } = await selectParts(client, parts, other).catch((error: unknown) => {
      throw toUnavailable(error, group);
    });
    const refusals = new Map([...refused].map(([position, error]): [number, Refusal] => [position, refusal(error)]));
    return answerOf(other, rows, refusals, () => other);
  }
  const { rows, refused } = begun;
  if (refused.size === 0) return answerOf(first, rows, NONE, () => first);
  const left = [...refused.keys()];
  const again = hasOther ? await selectParts(client, partsAt(parts, left), other).catch(unlessFailed) : undefined;
  const refusals = new Map(
    [...refused].map(([position, error], item): [number, Refusal] => [
      position,
      refusal(error, again?.refused.has(item) === false),
    ]),
  );
  const isOfReader = first === 'reader' || refusals.values().some(({ isAnswered }) => isAnswered);
  return answerOf(isOfReader ? 'reader' : 'writer', again ? [...rows, ...again.rows] : rows, refusals, (part) =>
    refusals.has(part) ? other : first,
  );
}

export async function askAllParts(
  client: SqlClient,
  group: string,
  role: Role,
  parts: readonly Statement[],
): Promise<PartsAnswer> {
  const answer = await askParts(client, group, role, parts);
  const unread = answer.refused.values().find(({ isAnswered }) => !isAnswered);
  if (unread) throw unread.error;
  return answer;
}

/** Reads from a role, or from the other if that fails. Throws `unavailable`, `answer_too_large`. */
export async function askEither(
  client: SqlClient,
  group: string,
  role: Role,
  statement: Statement,
): Promise<{ readonly role: Role; readonly rows: readonly SqlRow[] }> {
  const { rows, roleOf, errorOf } = await askParts(client, group, role, [statement]);
  const error = errorOf(0);
  if (error) throw error;
  return { role: roleOf(0), rows };
}

export function partsOf(statement: Statement): readonly Statement[] {
  return statement.parts ?? [statement];
}

/** Returns the bytes of bodies at which a page ends, once it has a cell. */
export function pageBytes({ abilities }: SqlClient): number {
  return Math.min(LIMITS.answerBytes, abilities.bounds.pageBytes);
}

const NONE: ReadonlyMap<number, Refusal> = new Map();

function answerOf(
  role: Role,
  rows: readonly SqlRow[],
  refused: ReadonlyMap<number, Refusal>,
  roleOf: (part: number) => Role,
): PartsAnswer {
  const errorOf = (part: number): SchemalessError | undefined =>
    refused.get(part)?.isAnswered === false ? refused.get(part)?.error : undefined;
  return { role, rows, refused, roleOf, errorOf };
}

/** Does something on a group's writer. Throws what a failure means to a client. */
export async function onWriter<T>(
  groups: Pick<Groups, 'client'>,
  group: string,
  work: (client: SqlClient) => Promise<T>,
): Promise<T> {
  const client = await groups.client(group);
  try {
    return await work(client);
  } catch (error) {
    throw toUnavailable(error, group);
  }
}

/** Turns a failed statement into what it means to a client. */
function toUnavailable(error: SqlError, group: string): SchemalessError;
function toUnavailable(error: unknown, group: string): unknown;
function toUnavailable(error: unknown, group: string): unknown {
  if (!(error instanceof SqlError)) return error;
  if (error.tooLarge)
    return new SchemalessError('answer_too_large', `${group} holds what cannot be read this way: ${error.message}`, {
      cause: error,
    });
  const message =
    error.failure === 'rejected' ? `${group} refused a statement` : `no node of ${group} answered in time`;
  return new SchemalessError('unavailable', message, { cause: error, more: { group } });
}

export type GroupItem = (ItemRows & Served & { readonly error?: undefined }) | { readonly error: SchemalessError };

interface GroupRead {
  /** Returns the statement for some items, numbered from 0: a part for each. */
  readonly statement: (items: readonly number[]) => Statement;
  readonly minima: readonly (number | undefined)[];
  readonly read: Role;
}

/**
 * Reads items of one group from the role asked for, or from the other. Items whose `min_added_id` a reader has not
 * reached are asked of the writer. `stale`: a reader answered without a satisfied `min_added_id`, or even the writer is
 * behind it. Throws SchemalessError `unavailable` when neither node could answer; refusals are errors of their items.
 */
export async function readGroup(client: SqlClient, group: string, read: GroupRead): Promise<readonly GroupItem[]> {
  const all = read.minima.map((_, item) => item);
  const first = await askParts(client, group, read.read, partsOf(read.statement(all)));
  const items = byItem(first.rows, all.length).map((answer, item): GroupItem => {
    const error = first.errorOf(item);
    return error ? { error } : withServed(answer, first.roleOf(item), read.minima[item]);
  });
  if (read.minima.every((minimum) => minimum === undefined)) return items;
  const behind = all.filter((item) => {
    const answer = items[item];
    return answer && !answer.error && answer.served_by === 'reader' && answer.head < (read.minima[item] ?? 0);
  });
  if (behind.length === 0) return items;
  try {
    const { rows, refused } = await selectParts(client, partsOf(read.statement(behind)), 'writer');
    for (const [position, answer] of byItem(rows, behind.length).entries()) {
      const item = behind[position] ?? 0;
      if (!refused.has(position)) items[item] = withServed(answer, 'writer', read.minima[item]);
    }
  } catch (error) {
    // The reader's answer stands, marked stale.
    if (!(error instanceof SqlError)) throw error;
  }
  return items;
}

function withServed(answer: ItemRows, role: Role, minimum: number | undefined): GroupItem {
  const reached = minimum !== undefined && answer.head >= minimum;
  return { ...answer, served_by: role, stale: !reached && (role === 'reader' || minimum !== undefined) };
}
