import { invalidField } from './errors.ts';

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})$/;

/**
 * Parses a time of RFC 3339 with zone. Returns UTC with six decimals, `2026-01-31T08:00:00.000000Z`, so times compare
 * as strings; cuts further decimals. A leap second is the last microsecond of its UTC month, since MySQL has none.
 * Years 1000 to 9999, as in MySQL. Throws SchemalessError `invalid_field`.
 */
export function parseTime(value: unknown, field: string): string {
  const wanted = 'a time with zone, like 2026-01-31T08:00:00.123456Z';
  if (typeof value !== 'string') throw invalidField(field, wanted, value);
  const [matched, year = '', month = '', day = '', hour = '', minute = '', second = '', decimals = '', zone = ''] =
    RFC3339.exec(value) ?? [];
  if (matched === undefined) throw invalidField(field, wanted, value);
  const isLeap = second === '60';
  const local = `${year}-${month}-${day}T${hour}:${minute}:${isLeap ? '59' : second}`;
  const utc = Date.parse(`${local}Z`);
  // Date.parse lets 24:00:00 through, and an instance of Date rolls 31 February over.
  if (Number.isNaN(utc) || new Date(utc).toISOString().slice(0, 19) !== local) throw invalidField(field, wanted, value);
  const shifted = new Date(utc - zoneMinutes(zone) * 60_000);
  if (Number.isNaN(shifted.getTime()) || shifted.getUTCFullYear() < 1000 || shifted.getUTCFullYear() > 9999)
    throw invalidField(field, wanted, value);
  if (isLeap && !new Date(shifted.getTime() + 1000).toISOString().endsWith('-01T00:00:00.000Z'))
    throw invalidField(field, wanted, value);
  return `${shifted.toISOString().slice(0, 19)}.${isLeap ? '999999' : decimals.slice(0, 6).padEnd(6, '0')}Z`;
}

function zoneMinutes(zone: string): number {
  if (zone === 'Z' || zone === 'z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  return zone.startsWith('-') ? -minutes : minutes;
}

/** Returns MySQL's `2026-01-31 08:00:00.123456` as RFC 3339. */
export function fromSqlTime(value: string): string {
  // The usual form of DATETIME(6).
  if (value.length === 26) return `${value.slice(0, 10)}T${value.slice(11)}Z`;
  const [seconds = '', decimals = ''] = value.split('.');
  return `${seconds.replace(' ', 'T')}.${decimals.padEnd(6, '0')}Z`;
}

/** Returns RFC 3339 in UTC as a DATETIME(6) literal: MySQL before 8.0.19 and MariaDB do not read zones. */
export function toSqlTime(value: string): string {
  return value.replace('T', ' ').replace('Z', '');
}

/** A moment by two clocks, for values that expire. */
export interface Moment {
  readonly steady: number;
  readonly wall: number;
}

export function moment(): Moment {
  return { steady: performance.now(), wall: Date.now() };
}

/** Returns milliseconds since then by the larger clock: the steady one stops in suspension, wall time may go back. */
export function ageOf({ steady, wall }: Moment): number {
  return Math.max(performance.now() - steady, Date.now() - wall);
}
