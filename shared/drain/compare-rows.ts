import { byItem, type StoredCell } from '../sql/cell-rows.ts';
import { unlessFailed, type SqlClient, type Target } from '../sql/client.ts';
import { selectCells } from '../sql/statements/select-cells.ts';
import { sameBody } from '../store/append-result.ts';
import type { NodeAnswers } from './ask-nodes.ts';
import { decideCopy, type CopyAction, type NodeWord, type Shown } from './decide.ts';
import type { OpenRow } from './open-rows.ts';

/** Rows compared together: their bodies, and the nodes', are in memory, each of up to a MiB. */
export const COMPARED_ROWS = 4;

/** Decides on at most `COMPARED_ROWS` rows of one shard by value. Throws `SqlError` without the writer. */
export async function compareRows(
  client: SqlClient,
  rows: readonly OpenRow[],
  { nodes }: NodeAnswers,
): Promise<readonly CopyAction[]> {
  const writer = await shownAt(client, 'writer', rows);
  const hasEqual = writer.includes('same');
  // A row that is there goes only once all nodes show it.
  const answers =
    hasEqual && nodes
      ? await Promise.all(
          nodes.map(async ({ target, writable }) => ({
            writable,
            shown: await shownAt(client, target, rows).catch(unlessFailed),
          })),
        )
      : [];
  return writer.map((shown, position) =>
    decideCopy(
      shown,
      answers.map((answer): NodeWord => ({ writable: answer.writable, shown: answer.shown?.[position] ?? 'silent' })),
    ),
  );
}

async function shownAt(client: SqlClient, target: Target, rows: readonly OpenRow[]): Promise<readonly Shown[]> {
  const [{ datastore } = { datastore: '' }] = rows;
  const keys = rows.map(({ row_key, column_name, ref_key, shard }) => ({
    key: { row_key, column_name, ref_key },
    shard,
  }));
  const found = byItem(await client.select(selectCells({ datastore }, keys, false), target), rows.length);
  return found.map(({ cells: [cell] }, position) => (cell ? shownAs(cell, rows[position] as OpenRow) : 'missing'));
}

function shownAs(cell: StoredCell, row: OpenRow): Shown {
  if (cell.body === null) return 'erased';
  return sameBody(cell, row) ? 'same' : 'contrary';
}
