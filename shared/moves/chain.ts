import { hash } from 'node:crypto';
import { isErasedBody, storedHashOf } from '../body/codec.ts';
import { EMPTY_DIGEST } from '../body/log-digest.ts';
import { withCheckpoint, type Checkpoint } from '../follow/offsets.ts';
import type { RawCell } from './statements/raw-cells.ts';

/** A place in a log: what the chain says there, and the cell that is there. */
interface ChainPlace extends Checkpoint {
  readonly digest: string;
}

/**
 * How far a shard, or its copy, was read, and what of: a chain of hashes over its rows as they lie there, each together
 * with the hash before it. Two logs are equal up to a place if their chains are equal there: ids, addresses, times and
 * the bytes of bodies.
 *
 * It is not the digest that the API answers, which is the same however bodies are encoded: a copy keeps every byte, and
 * one that cannot be decoded is copied like any other. A body that is erased leaves the chain as it was: what is left of
 * it says what its bytes were hashed to.
 */
export interface Chain {
  readonly at: number;
  readonly digest: string;
  /** What to go back to where the log, or the copy, has lost its end. In order. */
  readonly places: readonly ChainPlace[];
}

export const EMPTY_CHAIN: Chain = { at: 0, digest: EMPTY_DIGEST, places: [] };

/** What tells a cell from another one at its place. */
export function fingerprintOf(cell: RawCell): string {
  return rowHash(cell).slice(0, 32);
}

/** @param cells that follow the chain's place, in order, without a hole */
export function extendChain(chain: Chain, cells: readonly RawCell[]): Chain {
  const last = cells.at(-1);
  if (!last) return chain;
  let { digest } = chain;
  for (const cell of cells) digest = hash('sha256', `${digest} ${rowHash(cell)}`);
  const { added_id } = last;
  return {
    at: added_id,
    digest,
    places: withCheckpoint(chain.places, { added_id, fingerprint: fingerprintOf(last), digest }),
  };
}

/** The chain as it was at its newest place for which that holds; empty where there is none. */
export function goBackTo(chain: Chain, holds: (place: Checkpoint) => boolean): Chain {
  const position = chain.places.findLastIndex(holds);
  const place = chain.places[position];
  return place
    ? { at: place.added_id, digest: place.digest, places: chain.places.slice(0, position + 1) }
    : EMPTY_CHAIN;
}

function rowHash({ added_id, row_key, column_name, ref_key, body, created_at }: RawCell): string {
  const ofBody = body === null ? '-' : isErasedBody(body) ? storedHashOf(body) : hash('sha256', body);
  const [row, column] = [row_key, column_name].map((bytes) => Buffer.from(bytes).toString('hex'));
  return hash('sha256', `${added_id} ${row} ${column} ${ref_key} ${created_at} ${ofBody}`);
}
