import type { NewCell } from '../../../shared/cell.ts';
import type { IndexDefinition } from '../../../shared/definitions/definitions.ts';
import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';

/** One entry for each trip. */
export const DRIVER_INDEX: IndexDefinition = {
  name: 'driver_index',
  fields: [{ field: 'driver_uuid', type: 'UUID', column_key: 'BASE' }],
  keys: [],
};
/** Rows that the index has under one driver. */
export const TRIPS_A_DRIVER = 20;

/** The row key of the nth record of its kind: always the same, so that nobody has to remember a million of them. */
export function numberedRowKey(kind: string, number: number): string {
  return randomRowKey(new Random(kind, 'row key', number));
}

export function numberedDriver(datastore: string, number: number): string {
  return randomRowKey(new Random(datastore, 'driver', Math.floor(number / TRIPS_A_DRIVER)));
}

/** The nth trip of a datastore: about half a kilobyte of JSON in one cell. */
export function numberedTrip(datastore: string, number: number): NewCell {
  const random = new Random(datastore, 'trip', number);
  const places = Array.from({ length: 3 }, (_, position) => ({
    at: `2026-01-31T08:0${position}:00.000Z`,
    latitude: 38.7 + random.next() / 10,
    longitude: -9.1 - random.next() / 10,
  }));
  return {
    row_key: numberedRowKey(datastore, number),
    column_name: 'BASE',
    ref_key: 1,
    body: {
      driver_uuid: numberedDriver(datastore, number),
      rider_uuid: randomRowKey(random),
      city: 'Lisbon',
      status: 'completed',
      fare: { total: random.integer(300, 5000) / 100, currency: 'EUR' },
      places,
    },
  };
}

/** The first trips of a datastore. */
export function* numberedTrips(datastore: string, count: number): Generator<NewCell, void> {
  for (let number = 0; number < count; number += 1) yield numberedTrip(datastore, number);
}
