import { hash } from 'node:crypto';
import type { Json, NewCell, PutResult } from '../../../shared/cell.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { CardDeclined, type CardService, type Charged } from './card-service.ts';

/** The column of the card service's books. */
export const CHARGES = 'CHARGE';

/** The datastore with the charges. */
interface Books extends Pick<Datastore, 'get'> {
  tryPut(cell: NewCell): Promise<Pick<PutResult, 'outcome'>>;
}

/**
 * Returns a card service for examples. It records charges in cells of the column `CHARGE`: the row key is the
 * idempotency key, the ref key 0. An address accepts one body, so a key is charged once. `books`: any datastore for
 * these cells. `declineRate`: the share of attempts that a card declines, 0 to 1.
 */
export function simulatedCards(books: Books, declineRate: number): CardService {
  return {
    async charge({ idempotencyKey, attempt, amount, currency }) {
      const reason = declineReason(idempotencyKey, attempt, declineRate);
      if (reason !== undefined) throw new CardDeclined(reason);
      const charged: Charged & { readonly [member: string]: Json } = {
        receipt: receiptOf(idempotencyKey),
        amount,
        currency,
      };
      const address = { row_key: idempotencyKey, column_name: CHARGES, ref_key: 0 };
      const { outcome } = await books.tryPut({ ...address, body: charged });
      if (outcome === 'stored' || outcome === 'stored_before') return charged;
      // The first charge holds, even for another amount.
      const { cell } = outcome === 'conflict' ? await books.get(address) : { cell: null };
      // A buffered charge is not stored yet, and may lose its address to another charge.
      if (cell === null)
        throw new Error(
          `The card service cannot reach its books (${outcome}): it is not known whether ${idempotencyKey} was charged`,
        );
      return toCharged(cell.body);
    },
  };
}

function toCharged(body: Json): Charged {
  const { receipt, amount, currency } = Object(body);
  return { receipt: String(receipt), amount: Number(amount), currency: String(currency) };
}

/** Returns the same receipt for the same key, so that a retry has the first charge's receipt. */
function receiptOf(idempotencyKey: string): string {
  return `R${hash('sha256', `${idempotencyKey} receipt`, 'hex').slice(0, 12)}`;
}

/** Two of a hundred declined charges are of cards that keep declining for a while. */
const STUBBORN_SHARE = 0.02;
/** A trigger's default number of attempts: the cell is parked, and billed when it is sent again. */
const STUBBORN_ATTEMPTS = 5;
const REASONS = ['card_declined', 'insufficient_funds', 'card_expired', 'processor_timeout'] as const;

/**
 * Returns why a simulated card declines an attempt, undefined if not. The result depends only on key and attempt,
 * so that a message that comes twice has the same result. `rate`: the share of attempts declined, 0 to 1.
 */
export function declineReason(idempotencyKey: string, attempt: number, rate: number): string | undefined {
  const stubborn = share(`${idempotencyKey} stubborn`) < rate * STUBBORN_SHARE && attempt <= STUBBORN_ATTEMPTS;
  if (!stubborn && share(`${idempotencyKey} ${attempt}`) >= rate) return undefined;
  return REASONS[Math.floor(share(`${idempotencyKey} reason`) * REASONS.length)];
}

/** Returns a number from 0 up to, but not including, 1, evenly distributed over all texts. */
function share(text: string): number {
  return Number.parseInt(hash('sha256', text, 'hex').slice(0, 8), 16) / 2 ** 32;
}
