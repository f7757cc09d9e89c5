import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { billTrip, type Billing } from '../../../../functions/examples/billing/bill-trip.ts';
import { CardDeclined, type CardService, type Charge } from '../../../../functions/examples/billing/card-service.ts';
import { CHARGES, simulatedCards } from '../../../../functions/examples/billing/simulated-cards.ts';
import type { Json } from '../../../../shared/cell.ts';
import { PermanentFailure } from '../../../../shared/triggers/consume/permanent-failure.ts';
import { SchemalessError } from '../../../../shared/errors.ts';
import type { Datastore } from '../../../../shared/contract/datastore.ts';
import { confirming } from '../../../support/store-of.ts';
import { referenceStore } from '../../../support/reference-store.ts';

const FARE = { total: 24.2, currency: 'USD' };

type Page = Awaited<ReturnType<Billing['trips']['row']>>;

/** Makes a trip in its own store, whose cards decline the given attempts. */
async function trip(base: Json = { fare: FARE }, declined: readonly number[] = []) {
  const store = referenceStore('trips', 4);
  const row_key = randomUUID();
  await store.put({ row_key, column_name: 'BASE', ref_key: 1, body: base });
  const charges: Charge[] = [];
  const honest = simulatedCards({ get: store.get, tryPut: store.put }, 0);
  const cards: CardService = {
    async charge(charge) {
      charges.push(charge);
      if (declined.includes(charge.attempt)) throw new CardDeclined('insufficient_funds');
      return honest.charge(charge);
    },
  };
  const trips: Billing['trips'] = confirming(store);
  return {
    store,
    row_key,
    charges,
    billing: { trips, cards },
    bill: (change: Partial<Billing> = {}) => billTrip(row_key, { trips, cards, ...change }),
  };
}

async function bodies(store: Datastore, row_key: string, column_name: string): Promise<readonly Json[]> {
  return (await store.versions({ row_key, column_name }, { order: 'asc' })).cells.map(({ body }) => body);
}

describe('billing a trip', () => {
  it('charges the fare under the trip as idempotency key and writes a receipt', async () => {
    const { store, row_key, charges, bill } = await trip();
    expect(await bill()).toEqual({ outcome: 'billed', attempt: 1 });
    expect(charges).toEqual([{ idempotencyKey: row_key, attempt: 1, amount: 24.2, currency: 'USD' }]);
    const [charge] = await bodies(store, row_key, CHARGES);
    expect(charge).toMatchObject({ amount: 24.2, currency: 'USD', receipt: expect.stringMatching(/^R[0-9a-f]{12}$/u) });
    expect(await bodies(store, row_key, 'STATUS')).toEqual([{ is_completed: true, attempt: 1, ...Object(charge) }]);
  });

  it('does nothing for a trip that was billed', async () => {
    const { store, row_key, charges, bill } = await trip();
    await bill();
    expect(await bill()).toEqual({ outcome: 'nothing_to_do' });
    expect(charges).toHaveLength(1);
    expect(await bodies(store, row_key, 'STATUS')).toHaveLength(1);
  });

  it('writes each declined attempt and throws, to be called again', async () => {
    const { store, row_key, bill } = await trip({ fare: FARE }, [1, 2]);
    await expect(bill()).rejects.toThrow(CardDeclined);
    await expect(bill()).rejects.toThrow('insufficient_funds');
    expect(await bill()).toEqual({ outcome: 'billed', attempt: 3 });
    expect(await bodies(store, row_key, 'STATUS')).toEqual([
      { is_completed: false, attempt: 1, amount: 24.2, currency: 'USD', error: 'insufficient_funds' },
      { is_completed: false, attempt: 2, amount: 24.2, currency: 'USD', error: 'insufficient_funds' },
      expect.objectContaining({ is_completed: true, attempt: 3 }),
    ]);
  });

  it('charges once when what it wrote was not confirmed, and when two calls meet', async () => {
    const { store, row_key, billing, bill } = await trip();
    const unconfirmed: Billing['trips'] = {
      ...billing.trips,
      put: async () => Promise.reject(new SchemalessError('unavailable', 'The write was not confirmed')),
    };
    await expect(bill({ trips: unconfirmed })).rejects.toThrow('not confirmed');
    expect(await bodies(store, row_key, CHARGES)).toHaveLength(1);
    await Promise.all([bill(), bill(), bill()]);
    const [charge, ...others] = await bodies(store, row_key, CHARGES);
    expect(others).toEqual([]);
    expect(await bodies(store, row_key, 'STATUS')).toEqual([{ is_completed: true, attempt: 1, ...Object(charge) }]);
  });

  it('keeps a STATUS that was written since its read, and has nothing to do on the next call', async () => {
    const { store, row_key, billing, bill } = await trip();
    const written = { is_completed: true, by: 'an operator' };
    const overtaken: Billing['trips'] = {
      ...billing.trips,
      async row(rowKey, options) {
        const page = await store.row(rowKey, options);
        await store.put({ row_key, column_name: 'STATUS', ref_key: 0, body: written });
        return page;
      },
    };
    await expect(bill({ trips: overtaken })).rejects.toThrow('Another body is at');
    expect(await bill()).toEqual({ outcome: 'nothing_to_do' });
    expect(await bodies(store, row_key, 'STATUS')).toEqual([written]);
  });

  it('is tried again where a cell cannot be decoded, or a reader does not have the trip yet', async () => {
    const { charges, billing, bill } = await trip();
    const error = new SchemalessError('undecodable_body', 'a test');
    const answering = (change: (page: Page) => Page): Billing['trips'] => ({
      ...billing.trips,
      row: async (rowKey, options) => change(await billing.trips.row(rowKey, options)),
    });
    const damaged = answering((page) => ({
      ...page,
      cells: page.cells.map((cell) => ({ ...cell, body: null, error })),
    }));
    await expect(bill({ trips: damaged })).rejects.toThrow('a test');
    const behind = answering((page) => ({ ...page, cells: [], served_by: 'reader', stale: true }));
    await expect(bill({ trips: behind })).rejects.toThrow('cannot be read yet');
    expect(charges).toEqual([]);
  });

  it('keeps to what was charged when the fare was corrected before STATUS was written', async () => {
    const { store, row_key, billing, bill } = await trip();
    await billing.cards.charge({ idempotencyKey: row_key, attempt: 1, amount: 24.2, currency: 'USD' });
    await store.put({ row_key, column_name: 'BASE', ref_key: 2, body: { fare: { total: 9.5 } } });
    await bill();
    expect(await bodies(store, row_key, 'STATUS')).toEqual([
      expect.objectContaining({ is_completed: true, amount: 24.2 }),
    ]);
  });

  it('bills the corrected fare of a trip that was not billed yet', async () => {
    const { store, row_key, bill } = await trip();
    await store.put({ row_key, column_name: 'BASE', ref_key: 2, body: { fare: { total: 9.5 } } });
    await bill();
    expect(await bodies(store, row_key, 'STATUS')).toEqual([
      expect.objectContaining({ is_completed: true, amount: 9.5 }),
    ]);
  });

  it.each([[null], [{}], ['a text'], [{ fare: 12.5 }], [{ fare: null }]])(
    'leaves a trip alone that has no fare: %j',
    async (base) => {
      const { store, row_key, charges, bill } = await trip(base);
      expect(await bill()).toEqual({ outcome: 'nothing_to_do' });
      expect(charges).toEqual([]);
      expect(await bodies(store, row_key, 'STATUS')).toEqual([]);
    },
  );

  it('gives up at once on a fare that is no number', async () => {
    const { bill } = await trip({ fare: { total: '24.20' } });
    await expect(bill()).rejects.toThrow(PermanentFailure);
    await expect(bill()).rejects.toThrow('fare.total: wanted a number, got string');
  });
});
