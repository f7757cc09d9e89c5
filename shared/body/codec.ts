import { deflateSync, inflateSync } from 'node:zlib';
import { Decoder, Encoder } from '@msgpack/msgpack';
import { hash } from 'node:crypto';
import { LIMITS, type Json } from '../cell.ts';
import { parseJson, stringifyJson } from './json.ts';
import { checkBody } from './measure.ts';
import { packedBody } from './packed-body.ts';
import { unmarked } from './transaction-mark.ts';

/** A body's format: one byte, then the value. Formats are never renumbered; 0 is an erased body's, 5 a mark's. */
export const FORMAT = {
  /** MessagePack, zlib. The default. */
  messagePackZlib: 1,
  /** MessagePack as it is, if zlib would make it larger. */
  messagePack: 2,
  /** JSON text, zlib: for what MessagePack's decoders refuse or reorder (`__proto__`, the order of index-like keys). */
  textZlib: 3,
  text: 4,
} as const;

/** zlib's level: for 20 KB it takes three fifths of level 6's time, for 1.4 % more bytes. */
const LEVEL = 5;
/** Bytes below which zlib saves nothing: an attempt takes ten times as long as all the rest. */
const PLAIN_BELOW = 96;

/** The most that a body may inflate to: a number of 4 bytes in JSON (`0.5,`) takes 9 in MessagePack. */
const MAX_INFLATED = 3 * LIMITS.bodyBytes;

const encoder = new Encoder({ useBigInt64: true, maxDepth: LIMITS.bodyDepth + 1 });
const decoder = new Decoder({ useBigInt64: true });
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Checks a body and encodes it for storage. `field`: its name in messages. Throws SchemalessError if it is not JSON
 * that can be kept, too deep, or over 1 MiB as JSON.
 */
export function encodeBody(body: Json, field = 'body'): Buffer {
  const { text } = checkBody(body, field);
  const plain = text ? Buffer.from(stringifyJson(body)) : encoder.encodeSharedRef(body);
  if (plain.length >= PLAIN_BELOW) {
    const sizes = { windowBits: windowFor(plain.length), chunkSize: pieceFor(plain.length + ZLIB_MARGIN) };
    const deflated = deflateSync(plain, { level: LEVEL, ...sizes });
    if (deflated.length < plain.length) return withFormat(text ? FORMAT.textZlib : FORMAT.messagePackZlib, deflated);
  }
  return withFormat(text ? FORMAT.text : FORMAT.messagePack, plain);
}

/** The most bytes of JSON for a byte of a body: a control character is one byte there, six in JSON. */
export const JSON_GROWTH = 6;

/** Decodes a stored body. Throws Error that describes the damage, without the cell's address. */
export function decodeBody(stored: Uint8Array): Json {
  return decodeSized(stored).body;
}

/** Decodes a stored body, and returns its uncompressed bytes. Throws as `decodeBody`. */
export function decodeSized(marked: Uint8Array): { readonly body: Json; readonly plainBytes: number } {
  const stored = unmarked(marked);
  const plain = plainOf(stored);
  return { body: decodePlain(stored[0], plain), plainBytes: plain.length };
}

/**
 * As `decodeSized`, with a `PackedBody` instead of the value if the inflated bytes can be sent as they are. Decodes
 * JSON text, and bodies without a checksum.
 */
export function unpackSized(marked: Uint8Array): { readonly body: Json; readonly plainBytes: number } {
  const stored = unmarked(marked);
  if (stored[0] !== FORMAT.messagePackZlib) return decodeSized(stored);
  const plain = plainOf(stored);
  return { body: packedBody(plain) ?? decodePlain(stored[0], plain), plainBytes: plain.length };
}

/** Returns the uncompressed bytes of a stored body; 0 if it is damaged. */
export function plainBytesOf(stored: Uint8Array): number {
  try {
    return plainOf(unmarked(stored)).length;
  } catch {
    return 0;
  }
}

function plainOf(stored: Uint8Array): Uint8Array {
  const content = stored.subarray(1);
  return stored[0] === FORMAT.messagePackZlib || stored[0] === FORMAT.textZlib ? inflate(content) : content;
}

function decodePlain(format: number | undefined, plain: Uint8Array): Json {
  switch (format) {
    case FORMAT.messagePackZlib:
      return decoder.decode(plain) as Json;
    case FORMAT.messagePack: {
      const value = decoder.decode(plain);
      // Without a checksum, damaged bytes may decode to a value that is not JSON.
      checkBody(value, 'body', Number.POSITIVE_INFINITY);
      return value as Json;
    }
    case FORMAT.textZlib:
    case FORMAT.text:
      return parseJson(utf8.decode(plain));
    default:
      throw new Error(`unknown body format ${format ?? '(empty)'}`);
  }
}

function inflate(content: Uint8Array): Uint8Array {
  // The types lack `info`, with which the engine returns how much it has read.
  const { buffer, engine } = inflateSync(content, {
    maxOutputLength: MAX_INFLATED,
    chunkSize: pieceFor(content.length * USUAL_INFLATION),
    info: true,
  }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
  if (engine.bytesWritten !== content.length)
    throw new Error(`${content.length - engine.bytesWritten} bytes behind the end of the zlib stream`);
  return buffer;
}

/** The most bytes that zlib adds to an input that fits into one piece. */
const ZLIB_MARGIN = 64;
/** The bytes that zlib keeps free at a window's end. */
const WINDOW_MARGIN = 262;
const WINDOW_BITS = { least: 9, most: 15 };
/** Nearly all bodies inflate to less. */
const USUAL_INFLATION = 4;
/** Node's own least and default. */
const PIECE_BYTES = { least: 64, most: 16 * 1024 };

/** Returns the bytes that Node allocates for inflating at a time: 16 KiB by default, even for a small body. */
function pieceFor(bytes: number): number {
  return Math.min(PIECE_BYTES.most, Math.max(PIECE_BYTES.least, bytes));
}

/** Returns the smallest window that covers a whole body: zlib clears its window for each. */
function windowFor(bytes: number): number {
  const bits = 32 - Math.clz32(bytes + WINDOW_MARGIN);
  return Math.min(WINDOW_BITS.most, Math.max(WINDOW_BITS.least, bits));
}

function withFormat(format: number, content: Uint8Array): Buffer {
  const stored = Buffer.allocUnsafe(content.length + 1);
  stored[0] = format;
  stored.set(content, 1);
  return stored;
}

/** The format of the remains of an erased body: none of those above. */
const ERASED = 0;
const HASH_BYTES = 32;

/**
 * Returns the remains of an erased body: the format, and the SHA-256 of its stored bytes and of its JSON. They preserve
 * the digest of its log, and the chain that compares copies.
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

/** Returns the SHA-256, in hexadecimal, of the bytes that were stored. */
export function storedHashOf(erased: Uint8Array): string {
  return hexOf(erased.subarray(1, 1 + HASH_BYTES));
}

/** Returns the SHA-256, in hexadecimal, of the body's JSON; undefined if it could not be decoded. */
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
