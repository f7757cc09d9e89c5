import { rowKeyOf } from '../../../shared/address.ts';
import type { CellAddress } from '../../../shared/cell.ts';
import { toBytes, toNumber, toText } from '../../../shared/sql/cell-rows.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import { fromSqlTime } from '../../../shared/time.ts';
import { onEachShard, rowsOf } from '../../support/past-the-store.ts';
import type { GroupAccess } from '../../support/store-access.ts';
import { grouped, sumOf } from '../fault-run.ts';

export interface ConsumerVariation {
  readonly failing: number;
  /** Failures are not noticed: their messages are consumed. For controls. */
  readonly forgets: boolean;
}

export const GOOD_CONSUMER: ConsumerVariation = {
  failing: 0,
  forgets: false,
};

export interface Delivery {
  readonly shard: number;
  readonly added_id: number;
  /** Distinguishes the cell from any other that ever took this added id. */
  readonly cell: string;
  readonly replay: boolean;
  readonly at: number;
}

/** Returns the identity of a cell: its address, and when it was appended. */
export function cellName({
  row_key,
  column_name,
  ref_key,
  created_at,
}: CellAddress & { readonly created_at: string }): string {
  return `${row_key}/${column_name}/${ref_key}/${created_at}`;
}

export type DeliveryVerdict = ReturnType<typeof judgeDeliveries>;

/** Judges whether every due cell was delivered and, without repeats, in the order of its log. Ignores others. */
export function judgeDeliveries(due: readonly LoggedCell[], deliveries: readonly Delivery[]) {
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

export function deliveryResult({ due, never, outOfOrder }: DeliveryVerdict): string {
  return `${grouped(never)} never, ${grouped(outOfOrder)} out of order of ${grouped(due)}`;
}

function keyOf({ shard, cell }: Pick<LoggedCell, 'shard' | 'cell'>): string {
  return `${shard}/${cell}`;
}

export interface LoggedCell {
  readonly shard: number;
  readonly added_id: number;
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
    return { shard, added_id: toNumber(id), cell };
  });
}

/** Returns whether all partitions are held, by this many workers in fair shares. @param held by each, the most first */
export function isSpread(held: readonly number[] | undefined, workers: number, partitions: number): boolean {
  if (!held) return false;
  return sumOf(held) === partitions && held.length === workers && (held[0] ?? 0) - (held.at(-1) ?? 0) <= 1;
}
