import type { Role, Served } from '../cell.ts';
import type { SchemalessError } from '../errors.ts';
import { byItem, type ItemRows } from '../sql/cell-rows.ts';
import { SqlError, type SqlClient, type Statement } from '../sql/client.ts';
import { selectParts } from '../sql/select-parts.ts';
import { askParts, partsOf } from './ask-parts.ts';

/**
 * What a group answered to one item of a statement, and which node's word it is; or why that item alone could not be
 * read.
 */
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
