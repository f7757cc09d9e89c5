import { byItem } from '../sql/cell-rows.ts';
import { SqlError, type SqlClient } from '../sql/client.ts';
import { selectCells } from '../sql/statements/select-cells.ts';
import { selectVersions } from '../sql/statements/select-versions.ts';
import { pageBytes } from '../access/ask-parts.ts';
import { toEntries } from './entry.ts';
import {
  bodyOf,
  takeBody,
  turns,
  type LongRow,
  type RestOfColumn,
  type RowsRead,
  type RowsWanted,
} from './read-rows.ts';

const PAGE_CELLS = 1000;

/** Reads the rest of a long row, a page in memory at a time. Throws `SqlError` if it cannot be asked. */
export async function readLongRow(
  client: SqlClient,
  long: LongRow,
  wanted: Pick<RowsWanted, 'datastore' | 'indexes'>,
): Promise<RowsRead> {
  const { row, versions, gathered, rests } = long;
  try {
    for (const rest of rests) await takeRest(client, long, rest, wanted);
    return { read: [{ row, versions, entries: gathered.map(toEntries) }], unread: [] };
  } catch (error) {
    if (!(error instanceof SqlError) || error.failure !== 'rejected') throw error;
    return { read: [], unread: [{ rows: [row], error }] };
  }
}

/** Takes the other cells, of a later snapshot: tombstones of cells written since have too low a version. */
async function takeRest(
  client: SqlClient,
  { row, gathered }: LongRow,
  { column, latest, cells, after: from }: RestOfColumn,
  { datastore, indexes }: Pick<RowsWanted, 'datastore' | 'indexes'>,
): Promise<void> {
  const { row_key, shard } = row;
  const takesTurns = turns();
  if (latest) {
    const key = { row_key, column_name: column, ref_key: latest.ref_key };
    const [answer] = byItem(await client.select(selectCells({ datastore }, [{ key, shard }], false), 'writer'), 1);
    takeBody(gathered, indexes, { column, body: bodyOf(answer?.cells[0]?.body ?? null, row), isLatest: true });
  }
  for (let after = from, left = cells; left > 0;) {
    const range = {
      row_key,
      column_name: column,
      after,
      ascending: false,
      limit: Math.min(PAGE_CELLS, left),
      bytes: pageBytes(client),
    };
    const [page] = byItem(await client.select(selectVersions({ datastore }, shard, range, false), 'writer'), 1);
    const last = page?.cells.at(-1);
    if (!page || !last) return;
    for (const { body } of page.cells) {
      await takesTurns();
      takeBody(gathered, indexes, { column, body: bodyOf(body, row), isLatest: false });
    }
    after = last.ref_key;
    left -= page.cells.length;
  }
}
