import { hash } from 'node:crypto';
import { decodeBody } from './codec.ts';
import { stringifyJson } from './json.ts';

/** The format of what is left of a body that was erased: see `codec.ts`, whose formats it is none of. */
const ERASED = 0;
const HASH_BYTES = 32;

/**
 * What stands in the place of a body that was erased: the format, the SHA-256 of the bytes as they were stored, and
 * that of the body's JSON. So the digest of a log stays what it was, and so does the chain by which a copy of a shard is
 * compared with it; of the body itself nothing is left.
 */
export function erasedBody(stored: Uint8Array): Buffer {
  const left = Buffer.alloc(1 + 2 * HASH_BYTES);
  left[0] = ERASED;
  left.set(hash('sha256', stored, 'buffer'), 1);
  left.set(Buffer.from(jsonHash(stored), 'hex'), 1 + HASH_BYTES);
  return left;
}

export function isErasedBody(stored: Uint8Array): boolean {
  return stored[0] === ERASED && stored.length === 1 + 2 * HASH_BYTES;
}

/** SHA-256, in hexadecimal, of the bytes that were stored. */
export function storedHashOf(erased: Uint8Array): string {
  return hexOf(erased.subarray(1, 1 + HASH_BYTES));
}

/** SHA-256, in hexadecimal, of the body's JSON; undefined where it could not be decoded. */
export function jsonHashOf(erased: Uint8Array): string | undefined {
  const found = hexOf(erased.subarray(1 + HASH_BYTES));
  return found === UNKNOWN ? undefined : found;
}

const UNKNOWN = '00'.repeat(HASH_BYTES);

function jsonHash(stored: Uint8Array): string {
  try {
    return hash('sha256', stringifyJson(decodeBody(stored)));
  } catch {
    return UNKNOWN;
  }
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
