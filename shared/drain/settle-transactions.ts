import { isConditional } from '../body/transaction-mark.ts';
import { maintainEntries } from '../index/maintain-entries.ts';
import { SqlError, type SqlClient } from '../sql/client.ts';
import { markShown } from '../sql/statements/change-buffered.ts';
import { appendWhole } from '../store/append-transaction.ts';
import type { StoreContext } from '../access/context.ts';
import { isThere, type AppendedRows } from './append-rows.ts';
import { compareRows, type NodeAnswers } from './ask-nodes.ts';
import type { OpenRow } from './open-rows.ts';
import { requireWriter } from './require-writer.ts';
import type { Settled } from './settled.ts';
import { transactionName, transactionRows, unmarkedCells } from './transaction-rows.ts';

interface SettledTransactions {
  readonly client: SqlClient;
  readonly hintHolder: SqlClient;
  readonly answers: NodeAnswers;
  readonly settled: Settled;
  readonly done: AppendedRows;
  /** The transactions of this pass, by `transactionName`. */
  readonly names: Set<string>;
}

/**
 * Settles the transactions of some rows. Appends each whole, from all its hints in this group, or marks it whole as a
 * conflict. Returns the rows of cells written alone. Throws SqlError or SchemalessError when the primary fails.
 */
export async function settleTransactions(
  context: StoreContext,
  settling: SettledTransactions,
  rows: readonly OpenRow[],
): Promise<readonly OpenRow[]> {
  const alone: OpenRow[] = [];
  for (const row of rows) {
    const name = transactionName(row);
    if (name === undefined) alone.push(row);
    else if (!settling.names.has(name)) {
      settling.names.add(name);
      await settleTransaction(context, settling, row);
    }
  }
  return alone;
}

async function settleTransaction(
  context: StoreContext,
  { client, hintHolder, answers, settled, done }: SettledTransactions,
  row: OpenRow,
): Promise<void> {
  const { rows, isDamaged } = await transactionRows(hintHolder, row);
  if (rows.length === 0) return;
  const actions = await compareRows(client, rows, answers);
  const those = (...some: readonly (typeof actions)[number][]): readonly OpenRow[] =>
    rows.filter((_, position) => some.includes(actions[position] ?? 'wait'));
  const missing = those('append');
  // Asked after the comparison: a writer promoted in between may lack acknowledged cells, and is fenced.
  await requireWriter(client, missing);
  if (those('conflict').length > 0 || (missing.length > 0 && isConditional(row.encoded))) {
    // An open writer lacks a transaction with conditions: it was not acknowledged, and they may not hold any more.
    settled.conflicts.push(...rows);
  } else if (missing.length === 0) {
    // All hints go together: after a loss of cells they must still be whole.
    if (those('drain', 'forget').length < rows.length) return;
    settled.drained.push(...those('drain'));
    settled.erased.push(...those('forget'));
  } else if (isDamaged) {
    const error = 'another hint of its transaction is damaged';
    settled.faulty.push(...missing.map((one) => ({ row: one, error })));
  } else {
    await hintHolder.change(markShown(rows));
    const to = { datastore: row.datastore, shard: row.shard, cells: unmarkedCells(rows) };
    const { results } = await appendWhole(context, to, { skipsErased: true }).catch((error: unknown) => {
      if (!(error instanceof SqlError) || error.failure !== 'rejected') throw error;
      done.refused.push(...rows.map((one) => ({ row: one, error })));
      return { results: [] };
    });
    if (results.length === 0) return;
    done.taken += rows.length;
    done.appended += results.filter(({ outcome }) => outcome === 'stored').length;
    if (results.some(({ outcome }) => outcome === 'conflict')) settled.conflicts.push(...rows);
    const isErased = (_: OpenRow, position: number): boolean => results[position]?.outcome === 'erased';
    // Cells that were erased before they were stored are never shown: their hints go with the others.
    if (
      rows.every((one, position) => isErased(one, position) || ['drain', 'forget'].includes(actions[position] ?? ''))
    ) {
      settled.erased.push(...rows.filter(isErased));
      settled.drained.push(...those('drain'));
    }
    await maintainEntries(
      context,
      row.datastore,
      rows.filter((_, position) => isThere(results[position])),
    );
  }
}
