import type { Delivery } from './deliveries.ts';
import type { LoggedCell } from './logged-cells.ts';

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
  return `${never.toLocaleString('en-US')} never, ${outOfOrder.toLocaleString('en-US')} out of order of ${due.toLocaleString('en-US')}`;
}

function keyOf({ shard, cell }: Pick<LoggedCell, 'shard' | 'cell'>): string {
  return `${shard}/${cell}`;
}
