import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CardDeclined, type Charge } from '../../../../functions/examples/billing/card-service.ts';
import { declineReason, CHARGES, simulatedCards } from '../../../../functions/examples/billing/simulated-cards.ts';
import { referenceStore } from '../../../support/reference-store.ts';

const charge = (change: Partial<Charge> = {}): Charge => ({
  idempotencyKey: randomUUID(),
  attempt: 1,
  amount: 12.5,
  currency: 'USD',
  ...change,
});

function booksOf() {
  const store = referenceStore('trips', 2);
  return { ...store, tryPut: store.put };
}

describe('the simulated card service', () => {
  it('charges a key once, and answers with the first charge after that', async () => {
    const books = booksOf();
    const cards = simulatedCards(books, 0);
    const first = charge();
    const charged = await cards.charge(first);
    expect(await cards.charge(first)).toEqual(charged);
    expect(await cards.charge({ ...first, attempt: 2, amount: 99 })).toEqual(charged);
    const { cells } = await books.versions({ row_key: first.idempotencyKey, column_name: CHARGES });
    expect(cells.map(({ body }) => body)).toEqual([charged]);
  });

  it('gives every key a receipt of its own', async () => {
    const cards = simulatedCards(booksOf(), 0);
    const receipts = await Promise.all(Array.from({ length: 50 }, async () => (await cards.charge(charge())).receipt));
    expect(new Set(receipts).size).toBe(50);
  });

  it.each(['buffered', 'unavailable'] as const)('does not say that it charged what is %s', async (outcome) => {
    const books = referenceStore('trips', 2);
    const tryPut = async () => ({ outcome, shard: 0, copies: 1, reason: 'test' });
    await expect(simulatedCards({ get: books.get, tryPut }, 0).charge(charge())).rejects.toThrow('not known whether');
  });

  it('charges nothing when a card declines', async () => {
    const books = booksOf();
    const declined = charge();
    await expect(simulatedCards(books, 1).charge(declined)).rejects.toThrow(CardDeclined);
    expect(await books.getLatest({ row_key: declined.idempotencyKey, column_name: CHARGES })).toMatchObject({
      cell: null,
    });
  });
});

describe('declined attempts', () => {
  const keys = Array.from({ length: 20_000 }, (_, key) => `key ${key}`);
  const attemptsOf = (key: string): number => {
    let attempt = 1;
    while (declineReason(key, attempt, 0.05) !== undefined) attempt += 1;
    return attempt;
  };

  it('are the share given, and one charge in a thousand outlasts five attempts', () => {
    const attempts = keys.map(attemptsOf);
    expect(attempts.filter((attempt) => attempt > 1).length / keys.length).toBeCloseTo(0.051, 2);
    const parked = attempts.filter((attempt) => attempt > 5).length;
    expect(parked).toBeGreaterThan(8);
    expect(parked).toBeLessThan(40);
    expect(Math.max(...attempts)).toBeLessThan(9);
  });

  it('are the same every time, none at 0 and all at 1', () => {
    expect(keys.slice(0, 100).map((key) => declineReason(key, 1, 0.5))).toEqual(
      keys.slice(0, 100).map((key) => declineReason(key, 1, 0.5)),
    );
    expect(keys.filter((key) => declineReason(key, 1, 0) !== undefined)).toEqual([]);
    expect(keys.filter((key) => declineReason(key, 1, 1) === undefined)).toEqual([]);
  });
});
