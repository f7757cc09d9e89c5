import { setTimeout as sleep } from 'node:timers/promises';
import { markTransaction } from '../body/transaction-mark.ts';
import type { FailedCondition, LatestCondition } from '../cell.ts';
import type { EncodedCell } from '../sql/encoded-cell.ts';
import type { StoreContext } from '../access/context.ts';
import { SqlError, type SqlClient } from '../sql/client.ts';
import type { StoredCell } from '../sql/cell-rows.ts';
import type { ShardFence } from '../sql/statements/append-cells.ts';
import { appendTransaction } from '../sql/statements/append-transaction.ts';
import {
  onPrimary,
  POLL_PAUSE_MS,
  POLLS,
  sendAppend,
  SURE_POLLS,
  type Appended,
  type AppendedTo,
  type AppendOnce,
  type AppendOptions,
} from './append.ts';
import { sameBody, type AppendResult } from './append-result.ts';
import { lookUpMet, type Met } from './erasure-checks.ts';

interface TransactionOptions extends AppendOptions {
  readonly conditions?: readonly LatestCondition[];
  /** Appends the other cells if an erasure covers some: the transaction was acknowledged. */
  readonly skipsErased?: boolean;
}

interface AppendedTransaction extends Appended {
  /** The conditions that do not hold; then every result is a conflict. */
  readonly failed?: readonly FailedCondition[];
}

/**
 * Appends the cells of a transaction to their shard, all or none; if some are there and equal, all others. `cells`: of
 * one row, without marks, no address twice. Returns an outcome for each. If the transaction is refused, each cell has
 * `conflict` or `erased`; without an added id, only because of others. Throws as `appendToPrimary`.
 */
export function appendWhole(
  context: StoreContext,
  to: AppendedTo,
  { conditions = [], skipsErased = false, ...options }: TransactionOptions = {},
): Promise<AppendedTransaction> {
  return onPrimary(context, to, options, (client, fence, cells, once) =>
    appendOnce(client, fence, { cells, conditions, skipsErased }, once),
  );
}

interface Whole {
  readonly cells: readonly EncodedCell[];
  readonly conditions: readonly LatestCondition[];
  readonly skipsErased: boolean;
}

type AppendedHere = Omit<AppendedTransaction, 'group'>;

/** Appends the missing cells. After a refusal it looks up the existing ones, and tries again. */
async function appendOnce(
  client: SqlClient,
  fence: ShardFence,
  whole: Whole,
  once: AppendOnce,
): Promise<AppendedHere | 'unchecked' | 'elsewhere'> {
  const { cells, conditions } = whole;
  const columns = conditions.map(({ column_name }) => ({ row_key: cells[0]?.row_key ?? '', column_name }));
  const known = new Map<EncodedCell, AppendResult>();
  for (let poll = 1; poll <= POLLS; poll += 1) {
    const missing = cells.filter((cell) => !known.has(cell));
    const marked = markTransaction(missing, conditions.length > 0);
    const change = await sendAppend(client, fence, appendTransaction(fence, marked, conditions), once).catch(
      unlessThere,
    );
    if (change && change.affectedRows === missing.length) {
      const first = change.insertId - missing.length + 1;
      for (const [position, cell] of missing.entries())
        known.set(cell, { outcome: 'stored', shard: fence.shard, added_id: first + position });
      return {
        results: cells.map((cell) => known.get(cell) as AppendResult),
        epoch: fence.epoch,
        ...(change.rows && { rows: change.rows }),
      };
    }
    if (poll > 1) await sleep(POLL_PAUSE_MS * poll);
    const met = await lookUpMet(client, fence, cells, columns);
    if (met.isUnchecked) return 'unchecked';
    const judged = judgeMet(whole, met, fence.shard, known);
    if (judged?.failed && once.wasUnclear)
      throw new SqlError('unclear', 'conditions fail after a try whose end is unknown: it may be stored');
    if (judged) return { ...judged, epoch: fence.epoch };
    if (change && poll >= SURE_POLLS) return 'elsewhere';
  }
  throw new SqlError('contention', 'other writers changed the row of a transaction at each try');
}

/** Ignores the duplicate of an existing cell: the append changed nothing. */
function unlessThere(error: unknown): undefined {
  if (!(error instanceof SqlError) || error.failure !== 'duplicate' || error.key !== 'cell') throw error;
}

/** Returns the outcome, or notes in `known` the cells that are there, if the others are still to be appended. */
function judgeMet(
  { cells, conditions, skipsErased }: Whole,
  { found, latest }: Met,
  shard: number,
  known: Map<EncodedCell, AppendResult>,
): Pick<AppendedTransaction, 'results' | 'failed'> | undefined {
  const refused = new Map<EncodedCell, AppendResult>();
  known.clear();
  for (const [position, cell] of cells.entries()) {
    const there = found[position];
    if (there === 'erased') (skipsErased ? known : refused).set(cell, { outcome: 'erased', shard });
    else if (there && !sameBody(there, cell))
      refused.set(cell, { outcome: 'conflict', shard, added_id: there.added_id });
    else if (there)
      known.set(cell, { outcome: 'stored_before', shard, added_id: there.added_id, created_at: there.created_at });
  }
  if (known.size === cells.length) return { results: cells.map((cell) => known.get(cell) as AppendResult) };
  const failed = conditions.flatMap((condition, position) => failureOf(condition, latest[position]));
  if (failed.length === 0 && refused.size === 0) return undefined;
  const refusal: AppendResult = { outcome: 'conflict', shard };
  return { results: cells.map((cell) => refused.get(cell) ?? refusal), ...(failed.length > 0 && { failed }) };
}

/** Returns the latest cell without its body: a separate read fetches that. */
function failureOf({ column_name, latest: wanted }: LatestCondition, latest?: StoredCell): readonly FailedCondition[] {
  if ((latest?.ref_key ?? null) === wanted) return [];
  if (!latest) return [{ column_name, wanted, latest: null }];
  const { row_key, ref_key, added_id, shard, created_at } = latest;
  return [{ column_name, wanted, latest: { row_key, column_name, ref_key, body: null, added_id, shard, created_at } }];
}
