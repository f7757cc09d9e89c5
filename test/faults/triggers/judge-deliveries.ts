import { grouped } from '../../support/text-table.ts';
import { rowKeyOf } from '../../../shared/address.ts';
import { toBytes, toNumber, toText } from '../../../shared/sql/cell-rows.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import { fromSqlTime } from '../../../shared/time.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { onEachShard, rowsOf } from '../../support/past-the-store.ts';
import type { GroupAccess } from '../../support/store-access.ts';
import { cellName, type Delivery } from './deliveries.ts';

/** Deliveries held against the logs. */
export interface DeliveryVerdict {
  /** Cells that had to be delivered. */
  readonly due: number;
  readonly never: number;
  /** Cells that were first delivered after a later one of their shard. */
  readonly outOfOrder: number;
  /** Deliveries of a cell that had been delivered. */
  readonly repeats: number;
}

/**
 * Whether every cell was delivered, and, once repeats are removed, in the order of its log. Cells that were never
 * delivered count as that alone.
 *
 * @param due in the order of each log
 * @param deliveries in the order in which they came; those of cells that are not due are passed over
 */
export function judgeDeliveries(due: readonly LoggedCell[], deliveries: readonly Delivery[]): DeliveryVerdict {
  const wanted = new Set(due.map(keyOf));
  const delivered = new Set<string>();
  const reached = new Map<number, number>();
  let [repeats, outOfOrder] = [0, 0];
  for (const delivery of deliveries) {
    const key = keyOf(delivery);
    if (!wanted.has(key)) continue;
    const { shard, added_id } = delivery;
    const highest = reached.get(shard) ?? 0;
    if (delivered.has(key)) repeats += 1;
    else if (added_id < highest) outOfOrder += 1;
    delivered.add(key);
    reached.set(shard, Math.max(highest, added_id));
  }
  return { due: due.length, never: wanted.size - delivered.size, outOfOrder, repeats };
}

export function isWhole({ never, outOfOrder, due }: DeliveryVerdict): boolean {
  return due > 0 && never + outOfOrder === 0;
}

/** "0 never, 0 out of order of 1,234" */
export function deliveryFigure({ due, never, outOfOrder }: DeliveryVerdict): string {
  return `${grouped(never)} never, ${grouped(outOfOrder)} out of order of ${grouped(due)}`;
}

function keyOf({ shard, cell }: Pick<LoggedCell, 'shard' | 'cell'>): string {
  return `${shard}/${cell}`;
}

/** A cell as it lies in its shard's table. */
export interface LoggedCell {
  readonly shard: number;
  readonly added_id: number;
  readonly ref_key: number;
  /** As deliveries name it. */
  readonly cell: string;
}

/** Reads a datastore's logs from the groups' writers with plain SQL, past the store, each in its order. */
export async function loggedCells(groups: readonly GroupAccess[], datastore: string): Promise<readonly LoggedCell[]> {
  const logs = await onEachShard(groups, (client, shard) => loggedIn(client, datastore, shard), datastore);
  return logs.flat();
}

async function loggedIn(client: SqlClient, datastore: string, shard: number): Promise<readonly LoggedCell[]> {
  const sql = `SELECT added_id, row_key, column_name, ref_key, created_at FROM ${entityTable(datastore, shard)} ORDER BY added_id`;
  return (await rowsOf(client, sql)).map(([id, rowKey, column, refKey, at]) => {
    const address = { row_key: rowKeyOf(toBytes(rowKey)), column_name: toText(column), ref_key: toNumber(refKey) };
    const cell = cellName({ ...address, created_at: fromSqlTime(String(at)) });
    return { shard, added_id: toNumber(id), ref_key: address.ref_key, cell };
  });
}
