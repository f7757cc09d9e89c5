import { rowKeyBytes } from '../../address.ts';
import type { Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { KEY_COLUMNS, type CopyTable, type WaitingRow } from './select-buffered.ts';

/** Selects the hints of one transaction in all states. `begin`: the first bytes of each of its stored bodies. */
export function selectTransactionCopies(
  { datastore, row_key }: Pick<WaitingRow, 'datastore' | 'row_key'>,
  begin: Uint8Array,
  table: CopyTable = 'buffer',
): Statement {
  return {
    sql: `SELECT ${KEY_COLUMNS} FROM ${CONTROL}.${table} FORCE INDEX (copy) WHERE datastore = ? AND row_key = ? AND LEFT(body, ${begin.length}) = ? ORDER BY id`,
    parameters: [datastore, rowKeyBytes(row_key), begin],
  };
}
