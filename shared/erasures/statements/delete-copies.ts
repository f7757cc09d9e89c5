import type { ErasureTarget } from '../../address.ts';
import type { Statement } from '../../sql/client.ts';
import { CONTROL } from '../../sql/names.ts';
import { copyHint } from '../../sql/statements/copy-key.ts';
import { rangeOf } from '../../sql/statements/erasure-range.ts';
import type { CopyTable } from '../../sql/statements/select-buffered.ts';

export const DELETED_COPIES = 50;

/**
 * Deletes hints of a target's cells in any state: waiting, conflict, in doubt or parked. The other table has drained
 * ones, kept for a primary that is restored to a point in time. Never deletes the hint of an erasure.
 */
export function deleteCopies(table: CopyTable, datastore: string, target: ErasureTarget): Statement {
  const range = rangeOf(target);
  return {
    sql: `DELETE ${copyHint(table)} FROM ${CONTROL}.${table} WHERE datastore = ? AND ${range.sql} LIMIT ${DELETED_COPIES}`,
    parameters: [datastore, ...range.parameters],
  };
}
