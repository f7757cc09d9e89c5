import type { Json } from '../../../shared/cell.ts';
import { PermanentFailure } from '../../../shared/triggers/consume/permanent-failure.ts';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import { CardDeclined, type CardService, type Charged } from './card-service.ts';

type Billed =
  | { readonly outcome: 'billed'; readonly attempt: number }
  /** The trip was billed before, or has no fare yet. */
  | { readonly outcome: 'nothing_to_do' };

export interface Billing {
  readonly trips: Pick<SchemalessClient, 'row' | 'put'>;
  readonly cards: CardService;
}

/**
 * Charges the rider of a trip once, and writes the result as the next cell of STATUS. Repeated and concurrent calls for
 * a trip are safe: the trip's row key is the charge's idempotency key. Concurrent calls write one cell of STATUS, with
 * the receipt of the one charge.
 *
 * Throws if the charge failed or is uncertain, to be retried; `PermanentFailure` if the fare is not a number.
 */
export async function billTrip(rowKey: string, { trips, cards }: Billing): Promise<Billed> {
  // Reads the latest cell, not the message's: the fare may have been corrected since.
  const { cells, stale } = await trips.row(rowKey, { columns: ['BASE', 'STATUS'] });
  for (const { error } of cells) if (error !== undefined) throw error;
  const latest = new Map(cells.map((cell) => [cell.column_name, cell]));
  if (stale && !latest.has('BASE')) throw new Error(`BASE of ${rowKey} cannot be read yet`);
  const status = latest.get('STATUS');
  const last = membersOf(status?.body);
  if (last['is_completed'] === true) return { outcome: 'nothing_to_do' };
  const fare = fareOf(latest.get('BASE')?.body);
  if (fare === undefined) return { outcome: 'nothing_to_do' };

  const attempt = Number(last['attempt'] ?? 0) + 1;
  const address = { row_key: rowKey, column_name: 'STATUS', ref_key: (status?.ref_key ?? -1) + 1 };
  const write = async (body: Json): Promise<void> => {
    // After a conflict, as another call was quicker, the retry reads that call's cell.
    await trips.put({ ...address, body });
  };
  let charged: Charged;
  try {
    charged = await cards.charge({ idempotencyKey: rowKey, attempt, ...fare });
  } catch (error) {
    if (error instanceof CardDeclined) await write({ is_completed: false, attempt, ...fare, error: error.reason });
    throw error;
  }
  await write({ is_completed: true, attempt, ...charged });
  return { outcome: 'billed', attempt };
}

/** Returns undefined while the trip has no fare: a later BASE cell with a fare bills it. */
function fareOf(base: Json | undefined): { readonly amount: number; readonly currency: string } | undefined {
  const { total, currency } = membersOf(membersOf(base)['fare']);
  if (total === undefined) return undefined;
  if (typeof total !== 'number') throw new PermanentFailure(`fare.total: wanted a number, got ${typeof total}`);
  return { amount: total, currency: typeof currency === 'string' ? currency : 'USD' };
}

function membersOf(value: Json | undefined): { readonly [member: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as { readonly [member: string]: Json })
    : {};
}
