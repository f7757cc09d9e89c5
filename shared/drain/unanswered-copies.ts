import { addressKey } from '../address.ts';
import type { CellAddress } from '../cell.ts';
import type { SqlClient } from '../sql/client.ts';
import type { CopyTable, WaitingRow } from '../sql/statements/select-buffered.ts';
import {
  selectCopies,
  selectDrained,
  selectUnanswered,
  toCopies,
  toUnanswered,
} from '../sql/statements/select-unanswered.ts';

/** A table of a group that may hold copies. */
export interface Holder {
  readonly group: string;
  readonly client: SqlClient;
  readonly table: CopyTable;
}

/** A copy of a write that somebody may have been told is stored. */
export interface Copy {
  readonly holder: Holder;
  readonly row: WaitingRow;
}

/** Rows of a buffer table looked at with one statement: most of them were answered, and say nothing but their id. */
const PAGE_ROWS = 1000;

/**
 * The copies of one shard that a table holds of what may have been acknowledged, page by page.
 *
 * @throws SqlError when the group's writer cannot be asked
 */
export async function* unansweredPages(
  { client, table }: Holder,
  datastore: string,
  shard: number,
): AsyncGenerator<readonly WaitingRow[]> {
  const select = table === 'buffer' ? selectUnanswered : selectDrained;
  for (let after: number | undefined = 0; after !== undefined;) {
    const page = toUnanswered(await client.select(select(datastore, shard, after, PAGE_ROWS), 'writer'), PAGE_ROWS);
    if (page.rows.length > 0) yield page.rows;
    after = page.next;
  }
}

/**
 * All copies at some addresses of what may have been acknowledged, on whatever group, by `addressKey`.
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
      toCopies(await holder.client.select(selectCopies(holder.table, datastore, addresses), 'writer')).map(
        (row): Copy => ({
          holder,
          row,
        }),
      ),
    ),
  );
  return Map.groupBy(held.flat(), ({ row }) => addressKey(row));
}
