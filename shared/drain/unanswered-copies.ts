import { addressKey } from '../address.ts';
import type { CellAddress } from '../cell.ts';
import type { SqlClient } from '../sql/client.ts';
import type { WaitingRow } from '../sql/statements/select-buffered.ts';
import { selectCopies, selectUnanswered, toCopies, toUnanswered } from '../sql/statements/select-unanswered.ts';

/** A group that may hold copies. */
export interface Holder {
  readonly group: string;
  readonly client: SqlClient;
}

/** A copy of a write that somebody may have been told is stored. */
export interface Copy {
  readonly holder: Holder;
  readonly row: WaitingRow;
}

/** Rows of a buffer table looked at with one statement: most of them were answered, and say nothing but their id. */
const PAGE_ROWS = 1000;

/**
 * The unanswered copies of one shard that a group holds, page by page.
 *
 * @throws SqlError when the group's writer cannot be asked
 */
export async function* unansweredPages(
  { client }: Holder,
  datastore: string,
  shard: number,
): AsyncGenerator<readonly WaitingRow[]> {
  for (let after: number | undefined = 0; after !== undefined;) {
    const page = toUnanswered(
      await client.select(selectUnanswered(datastore, shard, after, PAGE_ROWS), 'writer'),
      PAGE_ROWS,
    );
    if (page.rows.length > 0) yield page.rows;
    after = page.next;
  }
}

/**
 * All unanswered copies at some addresses, on whatever group, by `addressKey`.
 *
 * @throws SqlError when the writer of one of the groups cannot be asked
 */
export async function copiesAt(
  holders: readonly Holder[],
  datastore: string,
  addresses: readonly CellAddress[],
): Promise<ReadonlyMap<string, readonly Copy[]>> {
  const held = await Promise.all(
    holders.map(async (holder) =>
      toCopies(await holder.client.select(selectCopies(datastore, addresses), 'writer')).map((row): Copy => ({
        holder,
        row,
      })),
    ),
  );
  return Map.groupBy(held.flat(), ({ row }) => addressKey(row));
}
