import { type Json, LIMITS } from '../cell.ts';

/**
 * Reads one value of MessagePack. Integers of 64 bits are numbers if a double keeps them, as in a JSON answer. Throws
 * Error for missing or extra bytes, types that JSON does not have, the key `__proto__`.
 */
export function readMessagePack(bytes: Uint8Array): Json {
  const reader = new MessagePackReader(bytes);
  const value = reader.read();
  reader.end();
  return value;
}

interface KnownName {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The name that followed it in the last read: repeated names come in the same order. */
  next: KnownName | undefined;
}

/** Keyed by their length and some of their bytes. */
const names = new Map<number, KnownName>();
/** At this number all are forgotten, since each references others. */
const NAMES_KEPT = 1024;
/** Names added since then, replacements included. */
let named = 0;
const LONGEST_NAME = 32;
/** Before the first. */
const NO_NAME: KnownName = { name: '', bytes: Uint8Array.of(), next: undefined };
/** The key that decoders refuse. */
const FORBIDDEN = '__proto__';

export class MessagePackReader {
  readonly #bytes: Buffer;
  #at = 0;
  #last = NO_NAME;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw new Error(`${this.#bytes.length - this.#at} bytes behind the value`);
  }

  read(): Json {
    const type = this.#byte();
    // By far most are short; their first bits decide.
    if (type < 0x80) return type;
    if (type < 0x90) return this.#map(type & 0x0f);
    if (type < 0xa0) return this.#array(type & 0x0f);
    if (type < 0xc0) return this.#string(this.#skip(type & 0x1f));
    if (type >= 0xe0) return type - 0x100;
    if (isText(type)) return this.#string(this.#skip(this.#length(type)));
    if (isMap(type)) return this.#map(this.#length(type));
    if (isArray(type)) return this.#array(this.#length(type));
    return this.#simple(type);
  }

  #simple(type: number): Json {
    const bytes = this.#bytes;
    const start = this.#skip(bytesOf(type));
    switch (type) {
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xcb:
        return bytes.readDoubleBE(start);
      case 0xcc:
        return bytes.readUInt8(start);
      case 0xcd:
        return bytes.readUInt16BE(start);
      case 0xce:
        return bytes.readUInt32BE(start);
      case 0xcf:
        return integer(bytes.readBigUInt64BE(start));
      case 0xd0:
        return bytes.readInt8(start);
      case 0xd1:
        return bytes.readInt16BE(start);
      case 0xd2:
        return bytes.readInt32BE(start);
      case 0xd3:
        return integer(bytes.readBigInt64BE(start));
      default:
        return null;
    }
  }

  #map(length: number): Json {
    const object: Record<string, Json> = {};
    for (let left = length; left > 0; left -= 1) {
      const name = this.#name();
      if (name === FORBIDDEN) throw new Error(`the key ${FORBIDDEN}`);
      object[name] = this.read();
    }
    return object;
  }

  /** Passes a value, and only checks that it is one. */
  pass(depth: number): void {
    if (depth > LIMITS.bodyDepth + 1) throw new Error('it is nested too deep');
    const type = this.#byte();
    if (type < 0x80 || type >= 0xe0) return;
    // Most by far are short texts.
    if (type >= 0xa0 && type < 0xc0) this.#skip(type & 0x1f);
    else if (isText(type)) this.#skip(this.#length(type));
    else if (isMap(type))
      for (let left = this.#length(type); left > 0; left -= 1) {
        this.#passName();
        this.pass(depth + 1);
      }
    else if (isArray(type)) for (let left = this.#length(type); left > 0; left -= 1) this.pass(depth + 1);
    else if (type === 0xcb) {
      const start = this.#skip(8);
      // By its exponent, without making a number of it.
      if (((this.#bytes[start] ?? 0) & 0x7f) === 0x7f && (this.#bytes[start + 1] ?? 0) >= 0xf0)
        throw new Error('no number');
    } else this.#skip(bytesOf(type));
  }

  #passName(): void {
    const start = this.#skipName();
    if (this.#at - start === FORBIDDEN.length && this.#bytes[start] === 0x5f && this.#string(start) === FORBIDDEN)
      throw new Error(`the key ${FORBIDDEN}`);
  }

  /** Returns the range of the value at a path, without reading more; undefined if there is none. */
  find(steps: readonly string[]): { readonly start: number; readonly end: number } | undefined {
    if (!steps.every((step) => this.#enter(step))) return undefined;
    const start = this.#at;
    this.pass(0);
    return { start, end: this.#at };
  }

  /** Goes to the value of a member; false if there is none. */
  #enter(name: string): boolean {
    const type = this.#byte();
    if (!isMap(type)) return false;
    for (let left = this.#length(type); left > 0; left -= 1) {
      if (this.#name() === name) return true;
      this.pass(0);
    }
    return false;
  }

  #array(length: number): Json {
    const items: Json[] = [];
    for (let left = length; left > 0; left -= 1) items.push(this.read());
    return items;
  }

  /** Reads the name of a member of a map. */
  #name(): string {
    const start = this.#skipName();
    const length = this.#at - start;
    if (length > LONGEST_NAME) return this.#string(start);
    const bytes = this.#bytes;
    const expected = this.#last.next;
    if (expected !== undefined && isAt(bytes, start, expected.bytes, length)) {
      this.#last = expected;
      return expected.name;
    }
    const hash =
      ((length * 31 + (bytes[start] ?? 0)) * 31 + (bytes[start + (length >> 1)] ?? 0)) * 31 +
      (bytes[start + length - 1] ?? 0);
    const known = names.get(hash);
    if (known !== undefined && isAt(bytes, start, known.bytes, length)) return this.#follows(known);
    if (named === NAMES_KEPT) {
      names.clear();
      named = 0;
      NO_NAME.next = undefined;
      this.#last = NO_NAME;
    }
    named += 1;
    const kept = {
      name: this.#string(start),
      bytes: Uint8Array.from(bytes.subarray(start, this.#at)),
      next: undefined,
    };
    names.set(hash, kept);
    return this.#follows(kept);
  }

  /** Passes the name of a member; returns where its text begins. */
  #skipName(): number {
    const type = this.#byte();
    if (!isText(type)) throw new Error('a name that is no text');
    return this.#skip(type < 0xc0 ? type & 0x1f : this.#length(type));
  }

  #follows(name: KnownName): string {
    this.#last.next = name;
    this.#last = name;
    return name.name;
  }

  #string(start: number): string {
    return this.#bytes.toString('utf8', start, this.#at);
  }

  /** Reads the length of a text, a map or an array. */
  #length(type: number): number {
    switch (type) {
      case 0xd9:
        return this.#byte();
      case 0xda:
      case 0xdc:
      case 0xde:
        return this.#bytes.readUInt16BE(this.#skip(2));
      case 0xdb:
      case 0xdd:
      case 0xdf:
        return this.#bytes.readUInt32BE(this.#skip(4));
      default:
        return isText(type) ? type & 0x1f : type & 0x0f;
    }
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Error('its end is missing');
    this.#at += 1;
    return byte;
  }

  /** Passes `count` bytes; returns where they begin. */
  #skip(count: number): number {
    const start = this.#at;
    if (start + count > this.#bytes.length) throw new Error('its end is missing');
    this.#at = start + count;
    return start;
  }
}

function isText(type: number): boolean {
  return (type & 0xe0) === 0xa0 || (type >= 0xd9 && type <= 0xdb);
}

function isMap(type: number): boolean {
  return (type & 0xf0) === 0x80 || type === 0xde || type === 0xdf;
}

function isArray(type: number): boolean {
  return (type & 0xf0) === 0x90 || type === 0xdc || type === 0xdd;
}

/** Returns the bytes after the type of null, true, false or a number. */
function bytesOf(type: number): number {
  if (type === 0xc0 || type === 0xc2 || type === 0xc3) return 0;
  if (type >= 0xcc && type <= 0xd3) return 1 << (type & 3);
  if (type === 0xcb) return 8;
  throw new Error(`a type that JSON does not have: 0x${type.toString(16)}`);
}

function isAt(bytes: Uint8Array, start: number, wanted: Uint8Array, length: number): boolean {
  if (wanted.length !== length) return false;
  for (let at = 0; at < length; at += 1) if (bytes[start + at] !== wanted[at]) return false;
  return true;
}

function integer(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Returns whether bytes are one JSON value in MessagePack, in a fifth of the time of reading them. */
export function isWellFormed(bytes: Uint8Array): boolean {
  const reader = new MessagePackReader(bytes);
  try {
    reader.pass(0);
    reader.end();
    return true;
  } catch {
    return false;
  }
}
