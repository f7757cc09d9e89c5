import { describe, expect, it } from 'vitest';
import { addressKey, parseAddress } from '../../../shared/address.ts';
import { decodeBody, encodeBody } from '../../../shared/body/codec.ts';
import { parseJson, stringifyJson } from '../../../shared/body/json.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { tripCells, tripStream } from './trip.ts';

const TRIPS = 3000;
const CELLS = [...tripStream({ seed: 'one', trips: TRIPS })];
const column = (name: string): readonly NewCell[] => CELLS.filter((cell) => cell.column_name === name);
const bases = column('BASE').map(({ body }) => Object(body));
const shareOf = (some: readonly unknown[]): number => some.length / TRIPS;

describe('cells of trips', () => {
  it('are the same in the same order of the same seed, and no others of how many there are', () => {
    const fewer = [...tripStream({ seed: 'one', trips: 300 })];
    expect(fewer).toEqual([...tripStream({ seed: 'one', trips: 300 })]);
    const wanted = Array.from({ length: TRIPS }, (_, n) => tripCells('one', n).map(({ cell }) => cell)).flat();
    const byAddress = (cells: readonly NewCell[]) => Object.fromEntries(cells.map((cell) => [addressKey(cell), cell]));
    expect(byAddress(CELLS)).toEqual(byAddress(wanted));
    expect(CELLS).toHaveLength(wanted.length);
    expect(fewer.map(({ row_key }) => row_key)).not.toContain(tripCells('two', 0)[0]?.cell.row_key);
  });

  it('have addresses that the store takes, versions from 1, and places in a list from 0', () => {
    for (const cell of CELLS.slice(0, 500)) expect(cell).toMatchObject(parseAddress(cell));
    for (const cells of Map.groupBy(CELLS, (cell) => `${cell.row_key} ${cell.column_name}`).values()) {
      const first = cells[0]?.column_name === 'BASE' ? 1 : 0;
      expect(cells.map(({ ref_key }) => ref_key).toSorted()).toEqual(cells.map((_, place) => first + place));
    }
  });

  it('have bodies that come back equal from JSON text and from storage', () => {
    for (const { body } of CELLS.slice(0, 800)) {
      expect(parseJson(stringifyJson(body))).toEqual(body);
      expect(decodeBody(encodeBody(body))).toEqual(body);
    }
  });

  it('are dirty at times, and have notes and adjustments as often as real ones', () => {
    const dirty = bases.filter((base) => base.fare.total < 0 || base.trip_miles === 0);
    expect(shareOf(dirty)).toBeGreaterThan(0.005);
    expect(shareOf(column('NOTES'))).toBeCloseTo(0.36, 1);
    expect(shareOf(column('FARE ADJUSTMENT'))).toBeCloseTo(0.02, 1);
    expect(new Set(bases.map((base) => base.driver_partner_uuid)).size).toBeLessThan(TRIPS * 0.8);
  });

  it.each([
    ['usual', 1000, 3000],
    ['uber', 18_000, 23_000],
  ] as const)('are as large as %s', (size, least, most) => {
    const bytes = [...tripStream({ seed: 'one', trips: 100, size })]
      .filter(({ column_name }) => column_name === 'BASE')
      .map(({ body }) => Buffer.byteLength(stringifyJson(body)));
    expect(Math.min(...bytes)).toBeGreaterThan(least);
    expect(Math.max(...bytes)).toBeLessThan(most);
  });

  it('come mixed, notes up to a week behind their trip, and some before it', () => {
    const baseAt = new Map(
      CELLS.flatMap((cell, at) => (cell.column_name === 'BASE' && cell.ref_key === 1 ? [[cell.row_key, at]] : [])),
    );
    const lags = column('NOTES').map((cell) => CELLS.indexOf(cell) - (baseAt.get(cell.row_key) ?? 0));
    expect(Math.max(...lags)).toBeGreaterThan(500);
    expect(Math.min(...lags)).toBeLessThan(0);
    const changes = CELLS.filter((cell, at) => cell.row_key !== CELLS[at - 1]?.row_key);
    expect(changes.length).toBeGreaterThan(CELLS.length * 0.6);
  });
});
