import { isConditional } from '../body/transaction-mark.ts';
import { maintainEntries } from '../index/maintain-entries.ts';
import { SqlError, type SqlClient } from '../sql/client.ts';
import { markShown } from '../sql/statements/change-buffered.ts';
import { selectShard, toShardRow } from '../sql/statements/select-shard.ts';
import type { WaitingRow } from '../sql/statements/select-buffered.ts';
import { SchemalessError } from '../errors.ts';
import { appendWhole } from '../store/append-transaction.ts';
import type { StoreContext } from '../access/context.ts';
import { isThere, type AppendedRows } from './append-rows.ts';
import { compareRows, type NodeAnswers } from './ask-nodes.ts';
import type { OpenRow } from './open-rows.ts';
import type { Settled } from './settled.ts';
import { transactionName, transactionRows, unmarkedCells } from './transaction-rows.ts';

interface SettledTransactions {
  readonly client: SqlClient;
  readonly hintHolder: SqlClient;
  readonly answers: NodeAnswers;
  readonly settled: Settled;
  readonly done: AppendedRows;
  /** By `transactionName`: settled in this pass. */
  readonly names: Set<string>;
}

/**
 * Settles the transactions of some rows, each with all its hints here: appends it whole, or marks it whole as a conflict.
 * Returns the rows of cells written alone. Throws SqlError or SchemalessError when the primary fails.
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
  if (those('conflict').length > 0 || (missing.length > 0 && isConditional(row.encoded))) {
    // An opened writer that lacks one with conditions: it was not acknowledged, and they may not hold any more.
    settled.conflicts.push(...rows);
  } else if (missing.length === 0) {
    // Together: after a loss the rest must still be whole.
    if (those('drain', 'forget').length < rows.length) return;
    settled.drained.push(...those('drain'));
    settled.erased.push(...those('forget'));
  } else if (isDamaged) {
    const error = 'another hint of its transaction is damaged';
    settled.faulty.push(...missing.map((one) => ({ row: one, error })));
  } else {
    await requireWriter(client, rows);
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
    // Erased before they were stored: they are never shown, and go with the others.
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

/** Throws `unavailable` for a shard being brought back: its hints, marked as shown, would contradict stored cells. */
export async function requireWriter(client: SqlClient, [row]: readonly WaitingRow[]): Promise<void> {
  if (!row) return;
  const { datastore, shard } = row;
  const found = toShardRow(await client.select(selectShard(datastore, shard), 'writer'));
  if (found?.hasWriter !== false) return;
  throw new SchemalessError('unavailable', `shard ${shard} of ${datastore} is being brought back from the buffers`);
}
