import { createCipheriv, createDecipheriv, createHmac, hkdfSync, type KeyObject, createSecretKey } from 'node:crypto';
import { parseJson, sortedText } from '../body/json.ts';
import type { CellAddress, Json } from '../cell.ts';

/**
 * A value sealed under the key of a subject: AES-256-GCM.
 *
 * The nonce is an HMAC-SHA-256 of the value and its place, so that sealing a put again gives the same bytes. Retries,
 * hints and comparisons thus need no key. It reveals no more, since equal values at one place are of one cell. The
 * place is authenticated, so that a token moved elsewhere does not open.
 */

export interface SubjectKeys {
  /** The subject's name in tokens: 32 hexadecimal digits. */
  readonly name: string;
  readonly sealing: KeyObject;
  readonly nonces: KeyObject;
}

export interface Place extends CellAddress {
  readonly datastore: string;
  /** The path of the field: `rider.phone`. */
  readonly path: string;
}

/** The length of every key, in bytes. */
export const KEY_BYTES = 32;
/** The length of subjects' names, in bytes. */
export const NAME_BYTES = 16;
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The prefix of a token, which names its format. */
const VERSION = '1.';
const CIPHER = 'aes-256-gcm';

export function derivedKey(key: Uint8Array, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', key, '', `schemaless 1 ${purpose}`, KEY_BYTES)));
}

export function subjectKeys(name: string, dataKey: Uint8Array): SubjectKeys {
  return { name, sealing: derivedKey(dataKey, 'seal'), nonces: derivedKey(dataKey, 'nonce') };
}

/** Returns the nonce, the AES-256-GCM ciphertext and the tag, which authenticates the context as well. */
export function encrypt(key: KeyObject, nonce: Uint8Array, context: Uint8Array, text: Uint8Array): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(context);
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

/** Returns the text. Throws unless `encrypt` made the bytes with this key and context. */
export function decrypt(key: KeyObject, context: Uint8Array, sealed: Uint8Array): Buffer {
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(context);
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
}

/** Returns a token: the same for equal values at one place, whose order of keys is lost. */
export function seal(keys: SubjectKeys, place: Place, value: Json): string {
  const context = contextOf(place);
  const text = sortedText(value);
  const hash = createHmac('sha256', keys.nonces).update(context).update('\0').update(text).digest();
  const sealed = encrypt(keys.sealing, hash.subarray(0, NONCE_BYTES), context, Buffer.from(text));
  return VERSION + Buffer.concat([Buffer.from(keys.name, 'hex'), sealed]).toString('base64url');
}

export interface Token {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Parses a token; returns undefined if the text is not as `seal` writes it. */
export function readToken(text: unknown): Token | undefined {
  if (typeof text !== 'string' || !text.startsWith(VERSION)) return undefined;
  const bytes = Buffer.from(text.slice(VERSION.length), 'base64url');
  if (bytes.length < NAME_BYTES + NONCE_BYTES + TAG_BYTES + 1) return undefined;
  // A token that decodes, but encodes differently, was changed.
  if (bytes.toString('base64url') !== text.slice(VERSION.length)) return undefined;
  return { name: bytes.toString('hex', 0, NAME_BYTES), bytes };
}

/** Returns the value; undefined if the token does not open with these keys at this place. */
export function open(keys: SubjectKeys, place: Place, { name, bytes }: Token): Json | undefined {
  if (name !== keys.name) return undefined;
  try {
    return parseJson(decrypt(keys.sealing, contextOf(place), bytes.subarray(NAME_BYTES)).toString());
  } catch {
    return undefined;
  }
}

/** Returns a unique text for a place: a JSON array, so that no part can shift into another. */
function contextOf({ datastore, row_key, column_name, ref_key, path }: Place): Buffer {
  return Buffer.from(JSON.stringify([datastore, row_key, column_name, ref_key, path]));
}
