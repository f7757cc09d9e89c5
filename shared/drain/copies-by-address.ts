import { rowKeyBytes } from '../address.ts';
import type { SqlClient } from '../sql/client.ts';
import { toWaitingRow, type WaitingRow } from '../sql/statements/select-buffered.ts';
import { selectUnanswered } from '../sql/statements/select-unanswered.ts';

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

/** Rows of a buffer table read at a time. */
const PAGE_ROWS = 500;

/**
 * The unanswered copies of one shard on all groups, address by address: every body that waits for an address comes at
 * once, on whatever group, while little is in memory.
 *
 * @throws SqlError when one of the groups cannot be asked
 */
export async function* copiesByAddress(holders: readonly Holder[], datastore: string, shard: number): AsyncGenerator<readonly [Copy, ...Copy[]]> {
  const lists = holders.map((holder) => copiesOf(holder, datastore, shard));
  const heads = await Promise.all(lists.map(async (list) => (await list.next()).value as Copy | undefined));
  for (;;) {
    const [first] = heads.filter((head) => head !== undefined).sort((one, other) => compareAddresses(one.row, other.row));
    if (!first) return;
    const copies: [Copy, ...Copy[]] = [first];
    for (const [place, list] of lists.entries()) {
      for (let head = heads[place]; head && compareAddresses(head.row, first.row) === 0; head = heads[place]) {
        if (head !== first) copies.push(head);
        heads[place] = (await list.next()).value as Copy | undefined;
      }
    }
    yield copies;
  }
}

async function* copiesOf(holder: Holder, datastore: string, shard: number): AsyncGenerator<Copy, undefined> {
  for (let after: WaitingRow | undefined; ; ) {
    const rows = (await holder.client.select(selectUnanswered(datastore, shard, after, PAGE_ROWS), 'writer')).map(toWaitingRow);
    for (const row of rows) yield { holder, row };
    if (rows.length < PAGE_ROWS) return undefined;
    after = rows.at(-1);
  }
}

/** As the servers order them: byte by byte. */
function compareAddresses(one: WaitingRow, other: WaitingRow): number {
  return (
    Buffer.compare(rowKeyBytes(one.row_key), rowKeyBytes(other.row_key)) ||
    Buffer.compare(Buffer.from(one.column_name), Buffer.from(other.column_name)) ||
    one.ref_key - other.ref_key
  );
}
