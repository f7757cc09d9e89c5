import type { Json, NewCell } from '../../../shared/cell.ts';
import { Random } from '../random.ts';
import { baseBody, cents, dateTime, requestTime, tripFacts, type TripFacts, type TripSize } from './body.ts';
import { identity } from './identity.ts';

/** When something is written, in milliseconds since 1970. */
interface Timed {
  readonly at: number;
}

/** A cell and when it comes to be written. */
interface TimedCell extends Timed {
  readonly cell: NewCell;
}

interface TimedBody extends Timed {
  readonly body: Json;
}

interface TripStreamOptions {
  /** Any text; the same seed gives the same cells in the same order. */
  readonly seed: string;
  /** How many trips, from 0. */
  readonly trips: number;
  /** @default 'usual', about 2 KB a trip */
  readonly size?: TripSize | undefined;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TEXTS = [
  '',
  'Great ride, thank you!',
  'Took the long way round…',
  'Très bon chauffeur, à bientôt 👍',
  'Спасибо, всё отлично',
  '司机很准时,谢谢!',
  'سائق ممتاز، شكراً',
  'Zoë’s café stop was no problem 👩‍👩‍👧‍👦',
  'She said "left at the light",\nI said right. \\o/',
] as const;
const TAGS = ['clean car', 'on time', 'good route', 'good music', 'quiet', 'friendly'] as const;
const REASONS = ['inefficient route', 'toll not paid', 'cleaning fee', 'promotion'] as const;

/** The row key of trip `n` of a seed; another one for each size, since a cell never changes. */
export function tripRowKey(seed: string, n: number, size: TripSize = 'usual'): string {
  return identity(`trip/${size}/${seed}/${n}`);
}

/**
 * Yields the cells of a number of trips in the order of their writes. Cells of neighbouring trips are mixed. Notes and
 * adjustments come up to a week (some 2000 trips) after their BASE cell, and sometimes before it.
 *
 * @example
 * for (const cell of tripStream({ seed: '1', trips: 2000 })) await store.put(cell);
 */
export function* tripStream({ seed, trips, size = 'usual' }: TripStreamOptions): Generator<NewCell, void> {
  let waiting: TimedCell[] = [];
  for (let n = 0; n <= trips; n += 1) {
    // No cell of this trip or a later one is written before this time, so everything up to it can go.
    const now = n === trips ? Number.POSITIVE_INFINITY : requestTime(n);
    const due = waiting.filter(({ at }) => at <= now).sort((one, other) => one.at - other.at);
    for (const { cell } of due) yield cell;
    waiting = waiting.filter(({ at }) => at > now);
    if (n < trips) waiting.push(...tripCells(seed, n, size));
  }
}

/**
 * All cells that are written of trip `n` (from 0) of a seed, always the same ones, none before `requestTime(n)`:
 *
 * - BASE: the trip, from its end on; ref key 1, and 2 where the record was corrected (1 %). One in a hundred comes
 *   hours late, from a phone that was offline.
 * - NOTES and FARE ADJUSTMENT: lists, up to a week later; the ref key is the place in the list, from 0.
 *
 * STATUS, an attempt to bill it each, is written by the trigger `bill_rider` once BASE is there.
 */
export function tripCells(seed: string, n: number, size: TripSize = 'usual'): readonly TimedCell[] {
  const facts = tripFacts(seed, n);
  const base = baseBody(seed, n, size);
  const random = new Random(seed, 'cells', n);
  const end = Math.max(facts.pickedUpAt, facts.droppedOffAt);
  const at = end + (random.chance(0.01) ? random.between(MINUTE, 8 * HOUR) : random.between(0, 1000));
  const corrected = { ...base, DOLocationID: facts.pickUp.id, corrected: ['DOLocationID'] };
  const bases: readonly TimedBody[] = [
    { at, body: base },
    ...(random.chance(0.01) ? [{ at: at + random.between(MINUTE, 8 * HOUR), body: corrected }] : []),
  ];
  const cells = (column_name: string, first: number, bodies: readonly TimedBody[]): readonly TimedCell[] =>
    bodies.map(({ at, body }, place) => ({
      at,
      cell: { row_key: tripRowKey(seed, n, size), column_name, ref_key: first + place, body },
    }));
  return [
    ...cells('BASE', 1, bases),
    ...cells('NOTES', 0, notesOf(random, facts, end)),
    ...cells('FARE ADJUSTMENT', 0, adjustmentsOf(random, facts, Number(Object(base['fare']).total), end)),
  ];
}

/**
 * A third of all trips have a note by the rider, a tenth of those another by the driver. Most come within the hour, the
 * last after a week; one in fifty is written during the trip, before its BASE cell exists.
 */
function notesOf(random: Random, { pickedUpAt }: TripFacts, end: number): readonly TimedBody[] {
  if (!random.chance(0.33)) return [];
  return (random.chance(0.1) ? ['rider', 'driver'] : ['rider']).map((author) => {
    const later = random.chance(0.2) ? random.between(0, 7 * DAY) : random.lognormal(20 * MINUTE, 1);
    const at = random.chance(0.02) ? pickedUpAt : end + Math.min(7 * DAY, later);
    const rating = random.chance(0.8) ? 5 : random.integer(1, 4);
    const tags = rating > 3 ? TAGS.filter(() => random.chance(0.2)) : [];
    return { at, body: { author, rating, text: random.pick(TEXTS), tags, written_at: dateTime(at) } };
  });
}

/** 1 to 2 % of trips have one or two; a dirty record has one more often. */
function adjustmentsOf(random: Random, { blemish }: TripFacts, total: number, end: number): readonly TimedBody[] {
  if (!random.chance(blemish === undefined ? 0.012 : 0.25)) return [];
  let at = end;
  return Array.from({ length: random.chance(0.2) ? 2 : 1 }, () => {
    at += random.between(HOUR, 3 * DAY);
    const amount = cents(0 - total * random.pick([0.1, 0.25, 0.5, 1]));
    const reason = blemish ?? random.pick(REASONS);
    return { at, body: { reason, amount, currency: 'USD', adjusted_at: dateTime(at) } };
  });
}
