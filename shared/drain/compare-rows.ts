import { byItem, type StoredCell } from '../sql/cell-rows.ts';
import type { SqlClient, Target } from '../sql/client.ts';
import { selectCells } from '../sql/statements/select-cells.ts';
import { sameBody } from '../store/append.ts';
import { unlessSilent, type NodeAnswers } from './ask-nodes.ts';
import { decideCopy, type CopyAction, type NodeWord, type Shown } from './decide.ts';
import type { OpenRow } from './open-rows.ts';

/** Rows compared together: the bodies that the nodes show are in memory with them, each of up to a MiB. */
export const COMPARED_ROWS = 4;

/**
 * Decides on rows of one shard whose bytes some node shows otherwise, by their values.
 *
 * @param rows at most `COMPARED_ROWS`
 * @throws SqlError where the writer could not be asked
 */
export async function compareRows(
  client: SqlClient,
  rows: readonly OpenRow[],
  { nodes }: NodeAnswers,
): Promise<readonly CopyAction[]> {
  const writer = await shownAt(client, 'writer', rows);
  const hasEqual = writer.includes('same');
  // What is no conflict, nor missing, goes only once all of them show it.
  const answers =
    hasEqual && nodes
      ? await Promise.all(
          nodes.map(async ({ target, writable }) => ({
            writable,
            shown: await shownAt(client, target, rows).catch(unlessSilent),
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
