import type { TransactionResult } from '../../../../shared/cell.ts';
import { pauseOrEnd } from '../../../../shared/client/pause.ts';
import { confirmedTransaction } from '../../../../shared/confirmed-transaction.ts';
import { SchemalessError } from '../../../../shared/errors.ts';
import type { Settlement } from './source.ts';

/** Sends a transaction until it is stored or rejected as a whole; undefined once the signal ends it. */
export async function endOfTransaction(
  rowKey: string,
  transact: () => Promise<TransactionResult>,
  signal: AbortSignal,
): Promise<Settlement | undefined> {
  for (let tried = 1; ; tried += 1) {
    try {
      const result = await transact();
      if (result.outcome !== 'unavailable') return { end: confirmedTransaction(rowKey, result).outcome };
    } catch (error) {
      if (!(error instanceof SchemalessError)) throw error;
      const { code, message, field, retry, details } = error;
      if (retry !== 'later' && (details.more?.['outcome'] !== undefined || field?.startsWith('cells')))
        return rejected(code, message, field);
      if (retry !== 'later') throw error;
    }
    if (!(await pauseOrEnd(tried, signal))) return undefined;
  }
}

export function rejected(code: string, reason: string, field?: string): Settlement {
  return { end: 'rejected', reject: { code, reason, field } };
}
