import { beginOf, markedPlace, unmarked } from '../body/transaction-mark.ts';
import type { EncodedCell } from '../sql/encoded-cell.ts';
import type { SqlClient } from '../sql/client.ts';
import { toWaitingRow, type CopyTable } from '../sql/statements/select-buffered.ts';
import { selectTransactionCopies } from '../sql/statements/select-transaction-copies.ts';
import { openRows, type OpenRow } from './open-rows.ts';

/** The hints of one transaction: one for each cell. */
interface TransactionRows {
  /** In the order of the transaction. */
  readonly rows: readonly OpenRow[];
  /** A hint cannot be decoded. All came in one statement: the cell of an absent one is drained, or was erased. */
  readonly isDamaged: boolean;
}

/** Names a row's transaction; undefined for a cell written alone. */
export function transactionName({ datastore, row_key, encoded }: OpenRow): string | undefined {
  const begin = beginOf(encoded);
  return begin && `${datastore}/${row_key}/${Buffer.from(begin).toString('hex')}`;
}

/** Reads all hints of a row's transaction that a group has. Throws SqlError. */
export async function transactionRows(
  hintHolder: SqlClient,
  row: OpenRow,
  table: CopyTable = 'buffer',
): Promise<TransactionRows> {
  const begin = beginOf(row.encoded) ?? new Uint8Array();
  const found = (await hintHolder.select(selectTransactionCopies(row, begin, table), 'writer')).map(toWaitingRow);
  const rows: OpenRow[] = [];
  let isDamaged = false;
  for await (const page of openRows(hintHolder, found, table)) {
    rows.push(...page.rows);
    isDamaged ||= page.faulty.length > 0;
  }
  rows.sort((one, other) => positionOf(one) - positionOf(other));
  return { rows, isDamaged };
}

/** Returns the position of a row in its transaction. */
export function positionOf({ encoded }: OpenRow): number {
  return markedPlace(encoded)?.position ?? 0;
}

/** Returns the rows as cells without marks: the append marks the cells that it stores together. */
export function unmarkedCells(rows: readonly OpenRow[]): readonly EncodedCell[] {
  return rows.map((row) => ({ ...row, encoded: unmarked(row.encoded) }));
}
