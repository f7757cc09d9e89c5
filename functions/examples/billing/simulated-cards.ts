import { hash } from 'node:crypto';
import type { Json } from '../../../shared/cell.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { CardDeclined, type CardService, type Charged } from './card-service.ts';

/** The column of the card service's books. */
export const CHARGES = 'CHARGE';

/**
 * A card service for examples. Its books are cells of the column `CHARGE`, where anybody can check them: the row key is
 * the idempotency key, the ref key always 0, and since an address takes one body, a key is charged once. `books`: of
 * any datastore. `declineRate`: the share of attempts that a card declines, 0 to 1.
 */
export function simulatedCards(books: Pick<Datastore, 'put' | 'get'>, declineRate: number): CardService {
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
      const { outcome } = await books.put({ ...address, body: charged });
      if (outcome === 'stored' || outcome === 'stored_before') return charged;
      // Charged before, for another amount: what was charged then holds.
      const { cell } = outcome === 'conflict' ? await books.get(address) : { cell: null };
      // What is only buffered is not in the books yet, and another charge may come before it.
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

/** The same for the same key, so that a charge that is sent again is the same charge. */
function receiptOf(idempotencyKey: string): string {
  return `R${hash('sha256', `${idempotencyKey} receipt`, 'hex').slice(0, 12)}`;
}

/** Of a hundred charges that are declined, two are of cards that go on declining for a while. */
const STUBBORN_SHARE = 0.02;
/** As many as a trigger makes by default: the cell is parked, and billed when it is sent again. */
const STUBBORN_ATTEMPTS = 5;
const REASONS = ['card_declined', 'insufficient_funds', 'card_expired', 'processor_timeout'] as const;

/**
 * Why a simulated card declines an attempt; undefined when it does not. Always the same for the same key and attempt,
 * so that a message that comes twice finds the same world. `rate`: the share of attempts declined, 0 to 1.
 */
export function declineReason(idempotencyKey: string, attempt: number, rate: number): string | undefined {
  const stubborn = share(`${idempotencyKey} stubborn`) < rate * STUBBORN_SHARE && attempt <= STUBBORN_ATTEMPTS;
  if (!stubborn && share(`${idempotencyKey} ${attempt}`) >= rate) return undefined;
  return REASONS[Math.floor(share(`${idempotencyKey} reason`) * REASONS.length)];
}

/** 0 up to, but not including, 1: evenly spread over all texts. */
function share(text: string): number {
  return Number.parseInt(hash('sha256', text, 'hex').slice(0, 8), 16) / 2 ** 32;
}
