import type { NewCell } from '../../../shared/cell.ts';
import { baseBody } from './base.ts';
import { HOUR, MINUTE, SECOND } from './clock.ts';
import { fareAdjustments } from './fare-adjustments.ts';
import { tripFacts } from './facts.ts';
import { tripFare } from './fare.ts';
import { identity } from './identity.ts';
import type { TripSize } from './journey.ts';
import type { LateBody } from './late-body.ts';
import { tripNotes } from './notes.ts';
import { Random } from '../random.ts';

/** A cell and when it comes to be written, in milliseconds since 1970. */
export interface TimedCell {
  readonly at: number;
  readonly cell: NewCell;
}

/** The row key of trip `n` of a seed; another one for each size, since a cell never changes. */
export function tripRowKey(seed: string, n: number, size: TripSize = 'usual'): string {
  return identity(`trip/${size}/${seed}/${n}`);
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
  const rowKey = tripRowKey(seed, n, size);
  const base = baseBody(seed, facts, size);
  const { total } = tripFare(seed, facts);
  const random = new Random(seed, 'cells', n);
  const end = Math.max(facts.pickedUpAt, facts.droppedOffAt);
  const written = end + (random.chance(0.01) ? random.between(MINUTE, 8 * HOUR) : random.between(0, SECOND));
  const bases: LateBody[] = [{ at: written, body: base }];
  if (random.chance(0.01)) {
    const body = { ...base, DOLocationID: facts.pickUp.id, corrected: ['DOLocationID'] };
    bases.push({ at: written + random.between(MINUTE, 8 * HOUR), body });
  }

  const cells = (column: string, first: number, bodies: readonly LateBody[]): readonly TimedCell[] =>
    bodies.map(({ at, body }, position) => ({
      at,
      cell: { row_key: rowKey, column_name: column, ref_key: first + position, body },
    }));
  return [
    ...cells('BASE', 1, bases),
    ...cells('NOTES', 0, tripNotes(seed, facts)),
    ...cells('FARE ADJUSTMENT', 0, fareAdjustments(seed, facts, total)),
  ];
}
