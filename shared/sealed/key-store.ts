import { randomBytes, type KeyObject } from 'node:crypto';
import type { DynamoTable } from '../dynamo/table.ts';
import { SchemalessError } from '../errors.ts';
import { decrypt, encrypt, NONCE_BYTES } from './sealing.ts';

/**
 * Where keys are kept: items of a table of their own, each wrapped by the key above it, the highest by the root key of
 * the deployment, which never lies in the table.
 *
 * | pk | holds |
 * |---|---|
 * | `datastore#trips` | `key`: the datastore's key, wrapped by the root key; `wrappings`, once keys were rotated: those that wrap subjects' keys, the current one first |
 * | `subject#trips#NAME` | `key`: a subject's key, wrapped by a `wrapping`, or at first by what the datastore's key gives; once it is forgotten none, and `forgotten`: the record of that, JSON |
 */
export interface KeyStore {
  readonly table: DynamoTable;
  /** The root keys, of 32 bytes, the current one first. Undefined where the environment has none. */
  readonly root: (() => Promise<readonly Uint8Array[]>) | undefined;
}

/** A key does not open what was wrapped by it: the root key is another one than it was. */
export class WrongKeyError extends Error {}

/** @param what the key's item, which is authenticated with it */
export function wrap(by: KeyObject, what: string, key: Uint8Array): Buffer {
  return encrypt(by, randomBytes(NONCE_BYTES), Buffer.from(what), key);
}

/** Opens with the first of these keys that does. Throws WrongKeyError. */
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

/** Does something with keys. Throws `unavailable` where they cannot be reached; it may be repeated then. */
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
