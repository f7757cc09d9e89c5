import type { TransactionResult } from './cell.ts';
import { ofForgotten } from './confirmed.ts';
import { SchemalessError, type ErrorDetails } from './errors.ts';

/** The outcome of a transaction. The shard is missing if no API answered. */
export type TransactionOutcome =
  | TransactionResult
  | { readonly outcome: 'unavailable'; readonly shard?: undefined; readonly reason: string };

/** The result of a transaction that is stored, or will be. */
export type ConfirmedTransaction = Extract<
  TransactionResult,
  { readonly outcome: 'stored' | 'stored_before' | 'buffered' }
>;

/** Returns a confirmed result. Throws SchemalessError for any other, with `cells` or `failed` in `details.more`. */
export function confirmedTransaction(rowKey: string, result: TransactionOutcome): ConfirmedTransaction {
  const { outcome, shard } = result;
  const detailsOf = (details: ErrorDetails = {}): ErrorDetails => ({
    ...details,
    more: { outcome, shard, ...details.more },
  });
  switch (result.outcome) {
    case 'conflict':
      throw new SchemalessError(
        'conflict',
        `Another body is at ${namesOf(result.cells)} of ${rowKey}; nothing was changed`,
        detailsOf({ more: { cells: result.cells } }),
      );
    case 'condition_failed': {
      const failed = result.failed.map(
        ({ column_name, wanted, latest }) =>
          `${column_name} at ${latest?.ref_key ?? 'no cell'}, wanted ${wanted ?? 'no cell'}`,
      );
      throw new SchemalessError(
        'condition_failed',
        `${rowKey} has ${failed.join('; ')}; nothing was changed`,
        detailsOf({ more: { failed: result.failed } }),
      );
    }
    case 'erased':
      throw new SchemalessError(
        'erased',
        `${namesOf(result.cells)} of ${rowKey} was erased for good; nothing was changed`,
        detailsOf({ status: 409, more: { cells: result.cells } }),
      );
    case 'subject_forgotten': {
      const { field } = result;
      throw new SchemalessError('subject_forgotten', ofForgotten(field), detailsOf({ field }));
    }
    case 'unavailable':
      throw new SchemalessError('unavailable', `Not confirmed, repeat it: ${result.reason}`, detailsOf());
    default:
      return result;
  }
}

function namesOf(cells: readonly { readonly column_name: string; readonly ref_key: number }[]): string {
  return cells.map(({ column_name, ref_key }) => `${column_name}, ${ref_key}`).join(' and ');
}
