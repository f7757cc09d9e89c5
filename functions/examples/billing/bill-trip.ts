import type { Json } from '../../../shared/cell.ts';
import { PermanentFailure } from '../../../shared/triggers/consume/permanent-failure.ts';
import type { TriggeredClient } from '../../../shared/triggers/consume/triggered-client.ts';
import { CardDeclined, type CardService, type Charged } from './card-service.ts';

type Billed =
  | { readonly outcome: 'billed'; readonly attempt: number }
  /** It was billed before, or has no fare yet. */
  | { readonly outcome: 'nothing_to_do' };

export interface Billing {
  readonly trips: Pick<TriggeredClient, 'row' | 'put'>;
  readonly cards: CardService;
}

/**
 * Charges the rider of a trip, once, and writes how it went as the next cell of STATUS. May be called for the same trip
 * any number of times, also at the same moment: the trip's row key is the charge's idempotency key. Two calls that meet
 * write one cell of STATUS, with the receipt of the one charge.
 *
 * Throws when the charge failed or is not certain, to be called again; `PermanentFailure` for a fare that is no number.
 */
export async function billTrip(rowKey: string, { trips, cards }: Billing): Promise<Billed> {
  // The latest, not the cell that the message names: a fare may have been corrected since.
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
    const { outcome } = await trips.put({ ...address, body });
    // Called again, this one sees what the other wrote.
    if (outcome === 'conflict') throw new Error(`STATUS of ${rowKey}: another call was quicker`);
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

/** Undefined while the trip has no fare: it is billed once a BASE cell says one. */
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
