import { confirmedTransaction } from '../confirmed-transaction.ts';
import type { ModelDatastore } from './declaration.ts';
import type { ModelCell } from './model-cell.ts';
import { ModelError } from './model-error.ts';

/** Writes the next versions of all changed cells of a record in one transaction. Throws as `ModelRecord.saveAll`. */
export async function saveCells(
  datastore: Pick<ModelDatastore, 'transact'>,
  row_key: string,
  cells: readonly Pick<ModelCell<unknown>, 'next'>[],
): Promise<void> {
  const changed = (await Promise.all(cells.map((cell) => cell.next()))).flatMap((next) => next ?? []);
  if (changed.length === 0) return;
  const result = await datastore.transact({ row_key, cells: changed.map(({ cell }) => cell) });
  if (result.outcome === 'conflict') {
    const taken = result.cells.map(({ column_name, ref_key }) => `version ${ref_key} of ${column_name}`);
    const message = `${row_key}: another writer has written ${taken.join(' and ')}; nothing was saved`;
    throw new ModelError('version_conflict', message, { more: { cells: result.cells } });
  }
  const confirmed = confirmedTransaction(row_key, result);
  for (const [position, { saved }] of changed.entries())
    saved('added_ids' in confirmed ? (confirmed.added_ids[position] ?? null) : null);
}
