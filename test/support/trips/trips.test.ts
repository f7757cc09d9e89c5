import { describe, expect, test } from 'vitest';
import { encodeBody, decodeBody } from '../../../shared/body/codec.ts';
import { parseJson, stringifyJson } from '../../../shared/body/json.ts';
import { parseAddress } from '../../../shared/address.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { requestTime } from './clock.ts';
import { tripFacts } from './facts.ts';
import { tripStream } from './stream.ts';
import { tripCells } from './trip.ts';

const TRIPS = 5000;
const CELLS = [...tripStream({ seed: 'one', trips: TRIPS })];
const column = (name: string): readonly NewCell[] => CELLS.filter((cell) => cell.column_name === name);
const body = (cell: NewCell): Record<string, unknown> => cell.body as Record<string, unknown>;
const share = (part: number): number => part / TRIPS;
const FACTS = Array.from({ length: TRIPS }, (_, n) => tripFacts('one', n));

describe('the same seed', () => {
  test('makes the same cells in the same order', () => {
    expect([...tripStream({ seed: 'one', trips: 300 })]).toEqual([...tripStream({ seed: 'one', trips: 300 })]);
  });

  test('makes a trip that does not depend on how many there are', () => {
    const rowKey = tripCells('one', 7)[0]?.cell.row_key;
    const inStream = CELLS.filter((cell) => cell.row_key === rowKey);
    expect(inStream).toHaveLength(tripCells('one', 7).length);
    expect(inStream).toEqual(expect.arrayContaining(tripCells('one', 7).map(({ cell }) => cell)));
  });

  test('made this trip when this was written', () => {
    const cell = tripCells('one', 0)[0]?.cell;
    expect([cell?.row_key, cell?.column_name, cell?.ref_key]).toEqual([
      '67a5930d-59f9-5083-8a52-f231fe963eac',
      'BASE',
      1,
    ]);
    expect(cell?.body).toMatchObject({
      trip_created_at: '2025-01-06T05:00:00Z',
      driver_partner_uuid: 'b6e30267-da8a-5051-a70d-559d65699f12',
      PULocationID: 247,
      base_passenger_fare: 10.61,
    });
  });
});

test('another seed makes other rows of the same drivers', () => {
  const others = [...tripStream({ seed: 'two', trips: TRIPS })];
  const rows = new Set(CELLS.map((cell) => cell.row_key));
  expect(others.filter((cell) => rows.has(cell.row_key))).toEqual([]);
  const drivers = new Set(column('BASE').map((cell) => body(cell)['driver_partner_uuid']));
  expect(others.some((cell) => drivers.has(body(cell)['driver_partner_uuid']))).toBe(true);
});

describe('cells', () => {
  test('have addresses that the store takes, each once', () => {
    const refused = CELLS.filter((cell) => {
      const { row_key, column_name, ref_key } = parseAddress(cell);
      return row_key !== cell.row_key || column_name !== cell.column_name || ref_key !== cell.ref_key;
    });
    expect(refused).toEqual([]);
    expect(new Set(CELLS.map((cell) => `${cell.row_key} ${cell.column_name} ${cell.ref_key}`)).size).toBe(CELLS.length);
  });

  test('have bodies that come back equal from JSON text and from storage', () => {
    for (const { body } of CELLS.slice(0, 800)) {
      expect(parseJson(stringifyJson(body))).toEqual(body);
      expect(decodeBody(encodeBody(body))).toEqual(body);
    }
  });

  test('have no -0, which JSON does not know', () => {
    expect(CELLS.filter((cell) => holdsNegativeZero(cell.body))).toEqual([]);
  });

  test('have the columns of a trip in about the shares of real ones', () => {
    expect(share(column('BASE').length)).toBeCloseTo(1.01, 1);
    const rowsOf = (name: string): number => new Set(column(name).map((cell) => cell.row_key)).size;
    expect(rowsOf('BASE')).toBe(TRIPS);
    expect(share(rowsOf('NOTES'))).toBeGreaterThan(0.28);
    expect(share(rowsOf('NOTES'))).toBeLessThan(0.38);
    expect(share(rowsOf('FARE ADJUSTMENT'))).toBeGreaterThan(0.01);
    expect(share(rowsOf('FARE ADJUSTMENT'))).toBeLessThan(0.02);
  });

  test('count ref keys from 1 as versions, from 0 as places in a list', () => {
    const columns = [...Map.groupBy(CELLS, (cell) => `${cell.row_key} ${cell.column_name}`).values()];
    const wrong = columns.filter((cells) => {
      const first = cells[0]?.column_name === 'BASE' ? 1 : 0;
      const refKeys = cells.map((cell) => cell.ref_key).sort((a, b) => a - b);
      return refKeys.some((refKey, position) => refKey !== first + position);
    });
    expect(wrong).toEqual([]);
  });

  test('leave the billing to the trigger', () => {
    expect(new Set(CELLS.map((cell) => cell.column_name))).toEqual(new Set(['BASE', 'NOTES', 'FARE ADJUSTMENT']));
  });

  test('say what a trip costs, for the trigger to bill it', () => {
    const totals = column('BASE').map((cell) => (body(cell)['fare'] as { total: unknown }).total);
    expect(totals.filter((total) => typeof total !== 'number' || !Number.isFinite(total))).toEqual([]);
  });

  test('hold text of many scripts', () => {
    const texts = new Set(column('NOTES').map((cell) => body(cell)['text'] as string));
    expect([...texts].some((text) => /\p{Script=Han}/u.test(text))).toBe(true);
    expect([...texts].some((text) => /\p{Emoji_Presentation}/u.test(text))).toBe(true);
    expect([...texts].every((text) => text.isWellFormed())).toBe(true);
  });
});

describe('a BASE cell', () => {
  const bytes = (cells: Iterable<NewCell>): readonly number[] =>
    [...cells].filter((cell) => cell.column_name === 'BASE').map((cell) => Buffer.byteLength(stringifyJson(cell.body)));

  test('is 1 to 3 KB of JSON', () => {
    expect(Math.min(...bytes(CELLS))).toBeGreaterThan(1000);
    expect(Math.max(...bytes(CELLS))).toBeLessThan(3000);
  });

  test('is about 20 KB with all positions and events', () => {
    const large = bytes(tripStream({ seed: 'one', trips: 100, size: 'uber' }));
    expect(Math.min(...large)).toBeGreaterThan(18_000);
    expect(Math.max(...large)).toBeLessThan(23_000);
  });

  test('lacks when the driver arrived for one company, and only for that', () => {
    const companies = Map.groupBy(column('BASE').map(body), (base) => base['hvfhs_license_num']);
    expect(
      companies
        .get('HV0005')
        ?.every((base) => base['on_scene_datetime'] === null && base['originating_base_num'] === null),
    ).toBe(true);
    expect(
      companies
        .get('HV0003')
        ?.every((base) => base['on_scene_datetime'] !== null && base['originating_base_num'] !== null),
    ).toBe(true);
  });
});

describe('trips', () => {
  test('are dirty in 1 to 3 % of all cases, in three ways', () => {
    const dirty = FACTS.filter((facts) => facts.blemish !== undefined);
    expect(share(dirty.length)).toBeGreaterThan(0.01);
    expect(share(dirty.length)).toBeLessThan(0.03);
    const bases = column('BASE').map(body);
    expect(bases.some((base) => (base['fare'] as { total: number }).total < 0)).toBe(true);
    expect(bases.some((base) => base['trip_miles'] === 0)).toBe(true);
    expect(bases.some((base) => String(base['dropoff_datetime']) < String(base['pickup_datetime']))).toBe(true);
  });

  test('are as long and as far as real ones', () => {
    const miles = FACTS.map((facts) => facts.miles).sort((a, b) => a - b);
    expect(miles[TRIPS / 2]).toBeGreaterThan(2.5);
    expect(miles[TRIPS / 2]).toBeLessThan(3.6);
    expect(miles.at(-1)).toBeLessThanOrEqual(60);
    const minutes = FACTS.map((facts) => facts.seconds / 60).sort((a, b) => a - b);
    expect(minutes[TRIPS / 2]).toBeGreaterThan(12);
    expect(minutes[TRIPS / 2]).toBeLessThan(20);
  });

  test('begin in a few zones mostly, and share drivers', () => {
    const most = (values: readonly number[]): readonly number[] =>
      [...Map.groupBy(values, (value) => value).values()].map((group) => group.length).sort((a, b) => b - a);
    const zones = most(FACTS.map((facts) => facts.pickUp.id));
    expect(share(zones.slice(0, 10).reduce((sum, count) => sum + count, 0))).toBeGreaterThan(0.3);
    const drivers = most(FACTS.slice(0, 2000).map((facts) => facts.driver));
    expect(drivers[0]).toBeGreaterThan(10);
    expect(drivers.filter((count) => count > 1).length).toBeGreaterThan(200);
  });

  test('are asked for one after the other', () => {
    for (let n = 1; n < 1000; n += 1) expect(requestTime(n)).toBeGreaterThan(requestTime(n - 1));
  });
});

describe('the stream', () => {
  const baseAt = new Map(
    CELLS.flatMap((cell, at) =>
      cell.column_name === 'BASE' && cell.ref_key === 1 ? [[cell.row_key, at] as const] : [],
    ),
  );
  const lags = CELLS.flatMap((cell, at) =>
    cell.column_name === 'NOTES' ? [at - (baseAt.get(cell.row_key) ?? 0)] : [],
  );

  test('brings notes up to a week behind their trip', () => {
    expect(lags.filter((lag) => lag > 500).length).toBeGreaterThan(50);
    const delays = FACTS.slice(0, 2000).flatMap((facts) =>
      tripCells('one', facts.n).map(({ at }) => at - facts.requestedAt),
    );
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...delays)).toBeGreaterThan(5 * 24 * 3600 * 1000);
    expect(Math.max(...delays)).toBeLessThan(8 * 24 * 3600 * 1000);
  });

  test('brings some notes before their trip', () => {
    expect(lags.filter((lag) => lag < 0).length).toBeGreaterThan(5);
    expect(lags.filter((lag) => lag < 0).length).toBeLessThan(lags.length / 10);
  });

  test('mixes the cells of neighbouring trips', () => {
    const changes = CELLS.filter((cell, at) => cell.row_key !== CELLS[at - 1]?.row_key).length;
    expect(changes).toBeGreaterThan(CELLS.length * 0.6);
  });
});

function holdsNegativeZero(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(holdsNegativeZero);
  return Object.is(value, -0);
}
