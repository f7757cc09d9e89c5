import { rowKeyBytes, FIRST_NAME, type ErasureTarget } from '../../address.ts';
import type { SqlParameter } from '../client.ts';

export function rangeOf({ row_key, column_name, ref_key, up_to, beyond }: ErasureTarget): {
  readonly sql: string;
  readonly parameters: readonly SqlParameter[];
} {
  const row = rowKeyBytes(row_key);
  if (column_name === undefined) return { sql: `row_key = ? AND column_name >= ${FIRST_NAME}`, parameters: [row] };
  const column = [row, Buffer.from(column_name)];
  if (ref_key !== undefined)
    return { sql: 'row_key = ? AND column_name = ? AND ref_key = ?', parameters: [...column, ref_key] };
  if (up_to === undefined) return { sql: 'row_key = ? AND column_name = ?', parameters: column };
  const versions = 'row_key = ? AND column_name = ? AND ref_key <= ?';
  return beyond === undefined
    ? { sql: versions, parameters: [...column, up_to] }
    : { sql: `${versions} AND ref_key > ?`, parameters: [...column, up_to, beyond] };
}
