import { randomBytes, type KeyObject } from 'node:crypto';
import type { DynamoTable } from '../dynamo/table.ts';
import { SchemalessError } from '../errors.ts';
import { decrypt, encrypt, NONCE_BYTES } from './sealing.ts';

/**
 * The table of keys. Each key is wrapped by the one above it. The deployment's root key, which is never in the table,
 * wraps the highest.
 *
 * | pk | holds |
 * |---|---|
 * | `datastore#trips` | `key`: the datastore's key, wrapped by the root key; `wrappings`, after a rotation: the keys that wrap subjects' keys, the current one first |
 * | `subject#trips#NAME` | `key`: a subject's key, wrapped by a `wrapping`, or at first by a key derived from the datastore's. `forgotten`, instead of the key of a forgotten subject: the record of that, JSON |
 */
export interface KeyStore {
  readonly table: DynamoTable;
  /** Reads the root keys, of 32 bytes each, the current one first. Undefined if the environment has none. */
  readonly root: (() => Promise<readonly Uint8Array[]>) | undefined;
}

/** No known key opens a wrapped one: the root key has changed. */
export class WrongKeyError extends Error {}

/** @param what the key's item, which is authenticated with it */
export function wrap(by: KeyObject, what: string, key: Uint8Array): Buffer {
  return encrypt(by, randomBytes(NONCE_BYTES), Buffer.from(what), key);
}

/** Unwraps with the first of these keys that fits. Throws WrongKeyError. */
export function unwrap([by, ...others]: readonly KeyObject[], what: string, wrapped: Uint8Array): Buffer {
  try {
    if (!by) throw new Error('no key');
    return decrypt(by, Buffer.from(what), wrapped);
  } catch (cause) {
    if (others.length > 0) return unwrap(others, what, wrapped);
    throw new WrongKeyError(
      `the key ${what} was wrapped by another key: bring back the former value of the secret of the root key`,
      { cause },
    );
  }
}

/** Throws `no_root_key`. */
export function requireRoot({ root }: KeyStore): () => Promise<readonly Uint8Array[]> {
  if (root) return root;
  throw new SchemalessError(
    'no_root_key',
    'this environment has no root key: its option sealsFields gives it one, see infra/docs/cdk.md',
  );
}

/** Runs a task on keys. Throws `unavailable` if they cannot be reached; a retry is safe. */
export async function overKeys<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (cause) {
    if (cause instanceof SchemalessError || cause instanceof WrongKeyError) throw cause;
    throw new SchemalessError('unavailable', `the keys of sealed fields cannot be reached: ${String(cause)}`, {
      cause,
    });
  }
}
