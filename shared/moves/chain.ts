import { hash } from 'node:crypto';
import { isErasedBody, storedHashOf } from '../body/codec.ts';
import { EMPTY_DIGEST } from '../body/log-digest.ts';
import { withCheckpoint, type Checkpoint } from '../follow/offsets.ts';
import type { RawCell } from './statements/raw-cells.ts';

/** A checkpoint of a chain: its digest and the fingerprint of the cell at an added id. */
interface ChainPlace extends Checkpoint {
  readonly digest: string;
}

/**
 * The part of a shard, or of its copy, that was read: a chain of hashes over its stored rows, each hashed with the hash
 * before it. Two logs are equal up to an added id if their chains are equal there: ids, addresses, times and the bytes
 * of bodies.
 *
 * It differs from the digest of the API, which does not depend on how bodies are encoded. A copy keeps every byte, and
 * a body that cannot be decoded is copied like any other. An erased body leaves the chain as it was: its remainder has
 * the hash of its bytes.
 */
export interface Chain {
  readonly at: number;
  readonly digest: string;
  /** Checkpoints to go back to if the log, or the copy, has lost its end. In order. */
  readonly places: readonly ChainPlace[];
}

export const EMPTY_CHAIN: Chain = { at: 0, digest: EMPTY_DIGEST, places: [] };

/** Returns a fingerprint that differs from that of another cell with the same added id. */
export function fingerprintOf(cell: RawCell): string {
  return rowHash(cell).slice(0, 32);
}

/** @param cells that follow the end of the chain, in order, without a hole */
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

/** Returns the chain up to its newest checkpoint that meets the condition; empty if none does. */
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
