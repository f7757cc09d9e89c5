import { expect, it } from 'vitest';
import { ASSUMPTIONS, type Assumptions } from '../../../../infra/capacity/assumptions.ts';
import { capacityFor } from '../../../../infra/capacity/capacity.ts';
import { dynamoDbFor, unitsOf } from '../../../../infra/capacity/elsewhere/dynamodb.ts';
import { loadOn } from '../../../../infra/capacity/load.ts';
import { ENVIRONMENTS } from '../../../../infra/environments.ts';

/** A thousand writes, and two thousand reads: one for each write, one by each call of a trigger. */
const planWith = (assumptions: Partial<Assumptions> = {}, writes = 1000) =>
  capacityFor(loadOn(ENVIRONMENTS.prod, 4096, writes), { ...ASSUMPTIONS, ...assumptions });
const SECONDS = 730 * 3600;
const GB = 1024 ** 3;

it('takes a unit for a cell and one for its entry, where the index is over all versions', () => {
  // 696 bytes of cell and 80 of address are below 1 KB, and below the 4 KB of a read.
  expect(unitsOf(planWith(), 'versions')).toEqual({ items: 1000, entries: 1000, reads: 2000 });
  const large = { elsewhere: { ...ASSUMPTIONS.elsewhere, encodedCellBytes: 4096 } };
  expect(unitsOf(planWith(large), 'versions')).toEqual({ items: 5000, entries: 1000, reads: 4000 });
});

it('takes two units for each of two items of a transaction, and one for the entry, where it is over the latest', () => {
  expect(unitsOf(planWith(), 'latest')).toEqual({ items: 4000, entries: 1000, reads: 2000 });
  // Nothing to be found by: nothing beside the cell.
  expect(unitsOf(planWith({ entriesPerWrite: 0 }), 'latest')).toEqual({ items: 1000, entries: 0, reads: 2000 });
});

it('costs on demand what its units, its GB and its PITR cost', () => {
  const { bill, monthlyUsd, storedUsd } = dynamoDbFor(planWith(), { capacity: 'on-demand', finds: 'latest' });
  const cells = 1000 * SECONDS;
  const table = (cells * (696 + 80 + 100 + 150 + 100)) / GB;
  const entries = (cells * (150 + 100)) / GB;
  const expected = [cells * 5 * 0.625e-6, cells * 2 * 0.125e-6, (table + entries) * 0.25, table * 0.2];
  for (const [line, usd] of expected.entries()) expect(bill[line]?.usd, bill[line]?.name).toBeCloseTo(usd, 6);
  // 8,212.50 and 657 of units; 841.95 and 551.18 of what is kept.
  expect(monthlyUsd).toBeCloseTo(10_262.63, 1);
  expect(storedUsd).toBeCloseTo(1393.13, 1);
});

it('costs provisioned what is provisioned, of which 70 % are used', () => {
  const { bill } = dynamoDbFor(planWith(), { capacity: 'provisioned', finds: 'latest' });
  expect(bill[0]?.usd).toBeCloseTo((5000 / 0.7) * 730 * 0.00065, 6);
  expect(bill[1]?.usd).toBeCloseTo((2000 / 0.7) * 730 * 0.00013, 6);
});

it('exceeds what a table may take by default once its own units do', () => {
  const of = (writes: number, capacity: 'on-demand' | 'provisioned') =>
    dynamoDbFor(planWith({}, writes), { capacity, finds: 'latest' }).isExceeded;
  expect([of(10_000, 'on-demand'), of(10_001, 'on-demand')]).toEqual([false, true]);
  expect([of(7000, 'provisioned'), of(7001, 'provisioned')]).toEqual([false, true]);
});

it('costs nothing at rest', () => {
  expect(dynamoDbFor(planWith({}, 0), { capacity: 'on-demand', finds: 'latest' }).monthlyUsd).toBe(0);
});
