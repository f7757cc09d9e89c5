import { LIMITS, type Role, type Served } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { SqlError, type SqlClient, type SqlRow, type Statement } from '../sql/client.ts';
import { selectParts } from '../sql/select-parts.ts';
import { byItem, type ItemRows } from '../sql/cell-rows.ts';

/** Why a part could not be read where it was asked for first. */
export interface Refusal {
  readonly error: SchemalessError;
  /** The other role had an answer. */
  readonly isAnswered: boolean;
}

interface PartsAnswer {
  /** `reader` where any part is a reader's. */
  readonly role: Role;
  /** In no order: the parts number their rows by themselves. */
  readonly rows: readonly SqlRow[];
  /** By place among the parts. */
  readonly refused: ReadonlyMap<number, Refusal>;
  /** Who answered a part, by its place. */
  readonly roleOf: (part: number) => Role;
  /** Why a part could not be read at all. */
  readonly errorOf: (part: number) => SchemalessError | undefined;
}

/**
 * Asks a group something of many shards, in one statement as a rule. A shard that cannot be read, since its table is
 * damaged, gone or locked, takes nothing from the others: it is asked of the other role alone, and fails alone. Where a
 * node does not answer at all, the other one is asked for everything.
 *
 * @param role which node is asked first
 * @throws SchemalessError `unavailable` when no node answers
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
  try {
    const { rows, refused } = await selectParts(client, parts, first);
    if (refused.size === 0) return answerOf(first, rows, NONE, () => first);
    const left = [...refused.keys()];
    const again = hasOther
      ? await selectParts(
          client,
          left.map((position) => parts[position] as Statement),
          other,
        ).catch(onlySql)
      : undefined;
    const refusals = new Map(
      left.map((position, item): [number, Refusal] => [
        position,
        {
          error: toUnavailable(refused.get(position) as SqlError, group),
          isAnswered: again !== undefined && !again.refused.has(item),
        },
      ]),
    );
    const isOfReader = first === 'reader' || refusals.values().some(({ isAnswered }) => isAnswered);
    return answerOf(isOfReader ? 'reader' : 'writer', again ? [...rows, ...again.rows] : rows, refusals, (part) =>
      refusals.has(part) ? other : first,
    );
  } catch (error) {
    if (!(error instanceof SqlError) || !hasOther) throw toUnavailable(error, group);
  }
  try {
    const { rows, refused } = await selectParts(client, parts, other);
    return answerOf(
      other,
      rows,
      new Map(
        [...refused].map(([position, error]) => [position, { error: toUnavailable(error, group), isAnswered: false }]),
      ),
      () => other,
    );
  } catch (error) {
    throw toUnavailable(error, group);
  }
}

/** Asks as `askParts` does where an answer without all parts is of no use. Throws why one could not be read. */
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

/**
 * Runs a reading statement on the node asked for, or on the other one when that one fails or refuses it.
 *
 * @throws SchemalessError `unavailable`, `answer_too_large`
 */
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

/** What a statement is made of; one that is no union is its only part. */
export function partsOf(statement: Statement): readonly Statement[] {
  return statement.parts ?? [statement];
}

/** Bytes of bodies at which a statement's page ends, once it has one cell. */
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

function onlySql(error: unknown): undefined {
  if (!(error instanceof SqlError)) throw error;
}

/** What a failed statement means to a client of the datastore. */
export function toUnavailable(error: SqlError, group: string): SchemalessError;
export function toUnavailable(error: unknown, group: string): unknown;
export function toUnavailable(error: unknown, group: string): unknown {
  if (!(error instanceof SqlError)) return error;
  if (error.tooLarge)
    return new SchemalessError('answer_too_large', `${group} holds what cannot be read this way: ${error.message}`, {
      cause: error,
    });
  const message =
    error.failure === 'rejected' ? `${group} refused a statement` : `no node of ${group} answered in time`;
  return new SchemalessError('unavailable', message, { cause: error, more: { group } });
}

/**
 * What a group answered to one item of a statement, and which node's word it is; or why that item alone could not be
 * read.
 */
export type GroupItem = (ItemRows & Served & { readonly error?: undefined }) | { readonly error: SchemalessError };

interface GroupRead {
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
    // The reader's answer stands, marked stale: it is behind, but it is an answer.
    if (!(error instanceof SqlError)) throw error;
  }
  return items;
}

function withServed(answer: ItemRows, role: Role, minimum: number | undefined): GroupItem {
  const reached = minimum !== undefined && answer.head >= minimum;
  return { ...answer, served_by: role, stale: !reached && (role === 'reader' || minimum !== undefined) };
}
