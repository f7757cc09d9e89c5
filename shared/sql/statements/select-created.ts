import { rowKeyBytes } from '../../address.ts';
import type { CellAddress } from '../../cell.ts';
import { fromSqlTime } from '../../time.ts';
import { toNumber } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { entityTable } from '../names.ts';

/**
 * When cells of one shard were appended: a branch for each address, one look-up in the unique key `cell`.
 *
 * @param first the number of the first address
 */
export function selectCreated(
  datastore: string,
  shard: number,
  addresses: readonly CellAddress[],
  first = 0,
): Statement {
  const table = entityTable(datastore, shard);
  return {
    table,
    sql: addresses
      .map(
        (_, item) =>
          `(SELECT ${first + item}, created_at FROM ${table} WHERE row_key = ? AND column_name = ? AND ref_key = ?)`,
      )
      .join(' UNION ALL '),
    parameters: addresses.flatMap(({ row_key, column_name, ref_key }) => [
      rowKeyBytes(row_key),
      Buffer.from(column_name),
      ref_key,
    ]),
  };
}

/** By the places of the addresses; none for a cell that is not there. */
export function toCreated(rows: readonly SqlRow[]): ReadonlyMap<number, string> {
  return new Map(rows.map(([item, created_at]) => [toNumber(item), fromSqlTime(String(created_at))]));
}
