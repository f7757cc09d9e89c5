import type { Json, NewCell } from '../../../shared/cell.ts';
import type { IndexDefinition } from '../../../shared/definitions/definitions.ts';
import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';

/** A driver's trips, with a field of a second column. */
export const DRIVER_INDEX: IndexDefinition = {
  name: 'driver_partner_index',
  fields: [
    { field: 'driver_partner_uuid', type: 'UUID', column_key: 'BASE' },
    { field: 'city_uuid', type: 'UUID', column_key: 'BASE' },
    { field: 'trip_created_at', type: 'datetime', column_key: 'BASE' },
    { field: 'fare.total', type: 'number', column_key: 'BASE' },
    { field: 'is_completed', type: 'boolean', column_key: 'STATUS' },
  ],
  keys: [['city_uuid', 'trip_created_at']],
};

/** Trips by zone: an integer shard field, in the other column. */
export const ZONE_INDEX: IndexDefinition = {
  name: 'zone_index',
  fields: [
    { field: 'zone', type: 'integer', column_key: 'STATUS' },
    { field: 'is_completed', type: 'boolean', column_key: 'STATUS' },
    { field: 'trip_created_at', type: 'datetime', column_key: 'BASE' },
  ],
  keys: [],
};

/** The rows that all writers race for: few, so that each is written many times. */
export const ROWS = 300;
/** Few, so that rows return to earlier values. */
const DRIVERS = 12;
const CITIES = 4;
const ZONES = 10;
/** The milliseconds by which a version may come after higher ones. */
const OUT_OF_ORDER_MS = 400;

export function raceRows(seed: string): readonly string[] {
  return keys(seed, 'race rows', ROWS);
}

export function raceDrivers(seed: string): readonly string[] {
  return keys(seed, 'race drivers', DRIVERS);
}

export class RacingCells {
  readonly #random: Random;
  readonly #rows: readonly string[];
  readonly #drivers: readonly string[];
  readonly #cities: readonly string[];
  readonly #writer: number;
  readonly #since: number;
  #number = 0;
  #last: NewCell | undefined;

  /**
   * @param writer 0 to 99, another one for each that races
   * @param since by `Date.now()`: the same for all that race, so that their ref keys rise together
   */
  constructor(seed: string, writer: number, since: number) {
    this.#random = new Random(seed, `race ${since}`, writer);
    this.#rows = raceRows(seed);
    this.#drivers = raceDrivers(seed);
    this.#cities = keys(seed, 'race cities', CITIES);
    this.#writer = writer;
    this.#since = since;
  }

  /** Returns the next version of some row, or the last one again. @param freshShare of rows that were never written */
  next(freshShare = 0): NewCell {
    if (this.#random.chance(freshShare)) return this.of(randomRowKey(this.#random));
    if (this.#last && this.#random.chance(0.03)) return this.#last;
    return this.of(this.#rows[this.#random.integer(0, ROWS - 1)] ?? '');
  }

  of(rowKey: string): NewCell {
    const isBase = this.#random.chance(0.7);
    this.#number += 1;
    const [column_name, ref_key] = [isBase ? 'BASE' : 'STATUS', this.#refKey()];
    const body = isBase ? this.#base() : this.#status();
    return (this.#last = { row_key: rowKey, column_name, ref_key, body });
  }

  /** Returns a version of this row that has a driver, and comes after all others. */
  move(rowKey: string): NewCell {
    this.#number += 1;
    const driver = this.#drivers[this.#random.integer(0, DRIVERS - 1)] ?? '';
    const body = { driver_partner_uuid: driver, number: this.#number };
    return { row_key: rowKey, column_name: 'BASE', ref_key: this.#refKey(0), body };
  }

  /** Returns a ref key that rises with time, is often below the row's latest, and is no other writer's. */
  #refKey(mostMsBack = OUT_OF_ORDER_MS): number {
    const back = this.#random.chance(0.5) ? this.#random.integer(0, mostMsBack) : 0;
    const at = Math.max(0, Date.now() - this.#since - back);
    return at * 1000 + this.#writer * 10 + (this.#number % 10);
  }

  #base(): Json {
    const random = this.#random;
    if (random.chance(0.02)) return 'no object';
    return {
      ...this.#oftenAbsent('driver_partner_uuid', this.#drivers[random.integer(0, DRIVERS - 1)] ?? ''),
      ...this.#oftenAbsent('city_uuid', this.#cities[random.integer(0, CITIES - 1)] ?? ''),
      trip_created_at: new Date(1_760_000_000_000 + random.integer(0, 10 ** 9)).toISOString(),
      fare: { total: random.integer(100, 9999) / 100 },
    };
  }

  #status(): Json {
    return {
      ...this.#oftenAbsent('zone', this.#random.integer(1, ZONES)),
      is_completed: this.#random.chance(0.5),
      number: this.#number,
    };
  }

  /** Returns it present, absent, null, or of another type. */
  #oftenAbsent(field: string, value: Json): { readonly [field: string]: Json } {
    const draw = this.#random.next();
    if (draw < 0.75) return { [field]: value };
    if (draw < 0.92) return {};
    return { [field]: draw < 0.96 ? null : ['another type'] };
  }
}

function keys(seed: string, purpose: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, number) => randomRowKey(new Random(seed, purpose, number)));
}
