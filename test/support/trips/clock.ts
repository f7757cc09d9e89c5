export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** When the first trip is asked for: a Monday, midnight in New York (winter time). */
const START = Date.parse('2025-01-06T05:00:00Z');

/**
 * One trip in so many is sampled: 288 a day, five minutes apart on average, so that a week's stragglers span 2000
 * trips.
 */
const TRIPS_A_DAY = 288;

/** Demand of each local hour of the day: lowest from 3 to 5, a morning ramp, the peak from 17 to 19. */
const DEMAND = [
  30, 21, 15, 11, 10, 13, 24, 40, 50, 44, 40, 41, 44, 46, 50, 54, 57, 66, 70, 64, 56, 53, 50, 42,
] as const;
const DEMAND_A_DAY = DEMAND.reduce<number>((sum, demand) => sum + demand, 0);

/** When trip `n` (from 0) is asked for, in milliseconds since 1970. Never before trip `n - 1`. */
export function requestTime(n: number): number {
  let left = ((n % TRIPS_A_DAY) / TRIPS_A_DAY) * DEMAND_A_DAY;
  let hour = 0;
  for (const demand of DEMAND) {
    if (left < demand) return START + Math.floor(n / TRIPS_A_DAY) * DAY + Math.floor((hour + left / demand) * HOUR);
    left -= demand;
    hour += 1;
  }
  throw new RangeError(`n: wanted an integer from 0, got ${n}`);
}

/** The hour of the day in New York (winter time), 0 to 23. */
export function localHour(time: number): number {
  return new Date(time - 5 * HOUR).getUTCHours();
}

/** RFC 3339, UTC, whole seconds. */
export function dateTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
