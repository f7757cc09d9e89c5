import { parseRowKey } from '../address.ts';
import type { Json, LatestCondition, RowTransaction, TransactionResult } from '../cell.ts';
import { confirmedTransaction, type ConfirmedTransaction, type TransactionOutcome } from '../confirmed-transaction.ts';
import type { Datastore } from '../contract/datastore.ts';
import { SchemalessError } from '../errors.ts';
import { parseTransaction } from '../api/parse-transaction.ts';
import { checkCell } from './cell-writes.ts';
import type { Connection } from './calls.ts';
import type { OwnWrites } from './own-writes.ts';

/** Collects cells and conditions of one row. `commit` writes all cells, or none; it can be repeated safely. */
export interface Transaction {
  put(columnName: string, refKey: number, body: Json): Transaction;
  /** Writes only if the latest cell of the column has this ref key; null: only if it has no cell. */
  ifLatest(columnName: string, refKey: number | null): Transaction;
  /**
   * Throws SchemalessError unless the transaction is confirmed: `condition_failed` and `conflict`, with
   * `failed` or `cells` in `details.more`, `erased`, `subject_forgotten`, and `unavailable` (it may be stored: repeat it).
   */
  commit(): Promise<ConfirmedTransaction>;
  /** As `commit`, but returns these five as outcomes. */
  tryCommit(): Promise<TransactionOutcome>;
}

interface Transactions extends Pick<Datastore, 'transact'> {
  readonly transaction: (rowKey: string) => Transaction;
}

/** Writes transactions over HTTP. Notes results for reads that must show them. */
export function transactions(send: Connection, own: OwnWrites | undefined): Transactions {
  const transact: Datastore['transact'] = async (given) => {
    const { cells, conditions } = parseTransaction(given, (cell, prefix) => ({ ...cell, ...checkCell(cell, prefix) }));
    const row = parseRowKey(given.row_key);
    const isRestored = cells.some(({ created_at }) => created_at !== undefined);
    const body = {
      cells: cells.map(({ column_name, ref_key, body: ofCell, created_at }) => ({
        column_name,
        ref_key,
        body: ofCell,
        ...(isRestored && { created_at }),
      })),
      ...(conditions.length > 0 && { if: conditions }),
    };
    const result = await send({
      method: 'POST',
      path: ['rows', row, 'transactions', ...(isRestored ? ['restore'] : [])],
      body,
    }).then(
      ({ json }) => resultOf(json),
      (error: unknown) => outcomeOf(error),
    );
    if ('added_ids' in result)
      own?.note({ outcome: result.outcome, shard: result.shard, added_id: Math.max(...result.added_ids) });
    return result;
  };
  return { transact, transaction: (row_key) => beginTransaction(transact, { row_key, cells: [], if: [] }) };
}

type Prepare = (cell: RowTransaction['cells'][number]) => Promise<RowTransaction['cells'][number]>;

/** Begins a transaction that `transact` commits. `prepare` returns each cell as it is written. */
export function beginTransaction(
  transact: Datastore['transact'],
  begun: RowTransaction & { readonly if: readonly LatestCondition[] },
  prepare: Prepare = async (cell) => cell,
): Transaction {
  const { row_key, cells, if: conditions } = begun;
  const tryCommit = async (): Promise<TransactionOutcome> => {
    const prepared = await Promise.all(cells.map(prepare));
    return transact({ ...begun, cells: prepared }).catch((error: unknown): TransactionOutcome => {
      if (!(error instanceof SchemalessError) || error.retry !== 'later') throw error;
      return { outcome: 'unavailable', reason: error.message };
    });
  };
  return {
    put: (column_name, ref_key, body) =>
      beginTransaction(transact, { ...begun, cells: [...cells, { column_name, ref_key, body }] }, prepare),
    ifLatest: (column_name, latest) =>
      beginTransaction(transact, { ...begun, if: [...conditions, { column_name, latest }] }, prepare),
    commit: async () => confirmedTransaction(row_key, await tryCommit()),
    tryCommit,
  };
}

function resultOf({
  row_key: _row,
  request_id: _id,
  ...result
}: {
  readonly [member: string]: unknown;
}): TransactionResult {
  return result as unknown as TransactionResult;
}

const OUTCOMES: readonly unknown[] = ['conflict', 'condition_failed', 'erased', 'subject_forgotten'];

/** Returns the outcome that the API answered; rethrows any other error. */
function outcomeOf(error: unknown): TransactionResult {
  if (!(error instanceof SchemalessError)) throw error;
  const { more, field } = error.details;
  const { outcome, shard, cells, failed } = more ?? {};
  if (outcome === 'unavailable') return resultOf({ outcome, shard, reason: error.message });
  if (!OUTCOMES.includes(outcome)) throw error;
  return resultOf({
    outcome,
    shard,
    ...(cells !== undefined && { cells }),
    ...(failed !== undefined && { failed }),
    ...(outcome === 'subject_forgotten' && { field }),
  });
}
