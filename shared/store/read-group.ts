import { LIMITS, type Role, type Served } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { byItem, type ItemRows } from '../sql/cell-rows.ts';
import { SqlError, type SqlClient, type Statement } from '../sql/client.ts';

/** What one group answered: a result per item of the statement, and which node's word it is. */
export interface GroupAnswer {
  readonly items: readonly (ItemRows & Served)[];
}

export interface GroupRead {
  /** The statement for some of the items, which it numbers anew from 0. */
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
 * @throws SchemalessError `unavailable` when neither could answer
 */
export async function readGroup(client: SqlClient, group: string, read: GroupRead): Promise<GroupAnswer> {
  const all = read.minima.map((_, item) => item);
  const first = await askEither(client, group, read.read, read.statement(all));
  const items = byItem(first.rows, all.length).map((answer, item) => withServed(answer, first.role, read.minima[item]));
  const behind = first.role === 'writer' ? [] : all.filter((item) => (items[item]?.head ?? 0) < (read.minima[item] ?? 0));
  if (behind.length === 0) return { items };
  try {
    const rows = await client.select(read.statement(behind), 'writer');
    for (const [place, answer] of byItem(rows, behind.length).entries()) {
      const item = behind[place] ?? 0;
      items[item] = withServed(answer, 'writer', read.minima[item]);
    }
  } catch (error) {
    // The reader's answer stands, marked stale: it is behind, but it is an answer.
    if (!(error instanceof SqlError)) throw error;
  }
  return { items };
}

/** Bytes of bodies at which a statement's page ends, once it has one cell. */
export function pageBytes({ abilities }: SqlClient): number {
  return Math.min(LIMITS.answerBytes, abilities.bounds.pageBytes);
}

/** Runs a reading statement on the node asked for, or on the other one when that fails. */
export async function askEither(client: SqlClient, group: string, role: Role, statement: Statement): ReturnType<typeof ask> {
  const wanted: Role = client.abilities.readsFromReaders ? role : 'writer';
  try {
    return await ask(client, wanted, statement);
  } catch (error) {
    if (!(error instanceof SqlError) || error.failure === 'rejected') throw toUnavailable(error, group);
    const other: Role = wanted === 'writer' ? 'reader' : 'writer';
    if (!client.abilities.readsFromReaders || (other === 'reader' && client.nodes < 2)) throw toUnavailable(error, group);
    try {
      return await ask(client, other, statement);
    } catch (second) {
      throw toUnavailable(second, group);
    }
  }
}

async function ask(client: SqlClient, role: Role, statement: Statement) {
  return { role, rows: await client.select(statement, role) };
}

function withServed(answer: ItemRows, role: Role, minimum: number | undefined): ItemRows & Served {
  const reached = minimum !== undefined && answer.head >= minimum;
  return { ...answer, served_by: role, stale: !reached && (role === 'reader' || minimum !== undefined) };
}

/** What a failed statement means to a client of the datastore. */
export function toUnavailable(error: unknown, group: string): unknown {
  if (!(error instanceof SqlError)) return error;
  if (error.tooLarge) return new SchemalessError('answer_too_large', `${group} holds what cannot be read this way: ${error.message}`, { cause: error });
  const message = error.failure === 'rejected' ? `${group} refused a statement` : `no node of ${group} answered in time`;
  return new SchemalessError('unavailable', message, { cause: error, more: { group } });
}
