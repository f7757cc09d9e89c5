import { LIMITS, type Json } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { readNumber } from './number.ts';
import { PackedBody } from './packed-body.ts';

/** Digits of the longest integers that are surely below 2^53. */
const SAFE_DIGITS = 15;

interface ParseOptions {
  /** How messages name the text. @default 'body' */
  readonly field?: string;
  /** Deepest nesting of arrays and objects. @default LIMITS.bodyDepth */
  readonly maxDepth?: number;
}

/**
 * Reads JSON text so that nothing of it is lost: JSON.parse would round large integers, drop all but the last of
 * duplicate keys and let lone surrogates through. Those that cannot be kept are refused.
 *
 * @param text one JSON value; white space around it is allowed, a byte order mark is not
 * @returns the value; integers beyond 2^53 are bigint, `__proto__` is a plain key
 * @throws SchemalessError `invalid_json`, naming the place
 */
export function parseJson(text: string, options: ParseOptions = {}): Json {
  const { field = 'body', maxDepth = LIMITS.bodyDepth } = options;
  return readCanonicalJson(text, maxDepth) ?? new JsonReader(text, field, maxDepth).readAll();
}

/**
 * Reads JSON text that is as JavaScript itself writes it, as most is that programs send: what it reads is written
 * again, and where that gives the same text nothing of it was lost. This takes less than half of the time of reading it
 * character by character.
 *
 * @param maxDepth deepest nesting of arrays and objects
 * @returns the value; undefined for any other text, broken or not: with white space, keys twice or in another order
 *   than that of JavaScript's objects, numbers that a double does not keep or would print in another way, integers of
 *   more than 15 digits, lone surrogates, deeper nesting
 */
export function readCanonicalJson(text: string, maxDepth: number): Json | undefined {
  // Lone surrogates alone are written as escapes that begin so.
  if (!isShallow(text, maxDepth) || text.includes('\\ud')) return undefined;
  try {
    const value: Json = JSON.parse(text);
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether it can be read without harm: no nesting beyond what is allowed, no integer that would be one of a larger
 * type.
 */
function isShallow(text: string, maxDepth: number): boolean {
  let depth = 0;
  let digits = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0x30 && code <= 0x39) {
      digits += 1;
      if (digits > SAFE_DIGITS) return false;
      continue;
    }
    digits = 0;
    if (code === 0x22) at = endOfString(text, at);
    else if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) depth -= 1;
    if (depth > maxDepth) return false;
  }
  return true;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at;
    if (code === 0x5c) at += 1;
  }
  return text.length;
}

/** JSON text, and whether JSON.parse reads it without loss. */
export interface JsonText {
  readonly text: string;
  /**
   * True: every number in it is a double, and keys are in the order in which JavaScript keeps them. False: some may not
   * be.
   */
  readonly isPlain: boolean;
}

/**
 * Writes JSON text, bigints as plain integers and keys in the order in which they came.
 *
 * @param value as `parseJson` gives it, or any plain JSON value
 */
export function stringifyJson(value: unknown): string {
  return writeJson(value).text;
}

/** As `stringifyJson`, and tells what the text needs to be read with. */
export function writeJson(value: unknown): JsonText {
  if (orderKept) return { text: write(value), isPlain: false };
  try {
    // Three times as fast as with a function that is asked about each member.
    return { text: JSON.stringify(value), isPlain: true };
  } catch {
    // Node 20 cannot be told how to write a number.
    return { text: rawJSON ? JSON.stringify(value, bigintAsInteger) : write(value), isPlain: false };
  }
}

/**
 * The keys of an object in the order in which they stood in its text. JavaScript moves keys that look like array
 * indexes to the front, so an object with such keys remembers its order in a hidden property.
 */
export function keysOf(value: { readonly [key: string]: Json }): readonly string[] {
  return (value as Ordered)[ORDER] ?? Object.keys(value);
}

/** A copy of an object with another value of a member that it has; keys stay where they stood. */
export function withMember(
  object: { readonly [key: string]: Json },
  key: string,
  value: Json,
): { readonly [key: string]: Json } {
  const copy = { ...object, [key]: value };
  const order = (object as Ordered)[ORDER];
  if (order) Object.defineProperty(copy, ORDER, { value: order });
  return copy;
}

/** Whether only its text can keep this object: its key order, or a key that decoders refuse. */
export function needsText(value: { readonly [key: string]: Json }): boolean {
  return (value as Ordered)[ORDER] !== undefined || Object.hasOwn(value, '__proto__');
}

const ORDER = Symbol('key order');
interface Ordered {
  readonly [key: string]: Json;
  readonly [ORDER]?: readonly string[];
}
/** Set once such an object exists in this process: until then the engine's own, faster writer is right. */
let orderKept = false;

const { rawJSON } = JSON as typeof JSON & { rawJSON?(text: string): unknown };

function bigintAsInteger(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? rawJSON?.(value.toString()) : value;
}

function write(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof PackedBody) return write(value.toJSON());
  if (Array.isArray(value)) return `[${value.map((item) => (item === undefined ? 'null' : write(item))).join(',')}]`;
  const object = value as { readonly [key: string]: Json };
  const members = keysOf(object).filter((key) => object[key] !== undefined);
  return `{${members.map((key) => `${JSON.stringify(key)}:${write(object[key])}`).join(',')}}`;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;
// oxlint-disable-next-line no-control-regex -- JSON forbids exactly these in a string
const NOT_PLAIN = /[\\\u0000-\u001f]/;
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/sy;
const INDEX_LIKE = /^(?:0|[1-9]\d*)$/;

class JsonReader {
  #at = 0;
  readonly #text: string;
  readonly #field: string;
  readonly #maxDepth: number;

  constructor(text: string, field: string, maxDepth: number) {
    this.#text = text;
    this.#field = field;
    this.#maxDepth = maxDepth;
  }

  readAll(): Json {
    if (!this.#text.isWellFormed()) throw this.#refuse('well-formed Unicode', 'a lone surrogate');
    this.#skipSpace();
    const value = this.#readValue(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#refuse('the end', this.#here());
    return value;
  }

  #readValue(depth: number): Json {
    switch (this.#text.charCodeAt(this.#at)) {
      case 0x7b:
        return this.#readObject(depth + 1);
      case 0x5b:
        return this.#readArray(depth + 1);
      case 0x22:
        return this.#readString();
      case 0x74:
        return this.#readWord('true', true);
      case 0x66:
        return this.#readWord('false', false);
      case 0x6e:
        return this.#readWord('null', null);
      default:
        return this.#readNumber();
    }
  }

  #readObject(depth: number): Json {
    this.#enter(depth);
    const object: Record<string, Json> = {};
    const keys: string[] = [];
    let indexLike = false;
    if (this.#skip(0x7d)) return object;
    for (;;) {
      if (this.#text.charCodeAt(this.#at) !== 0x22) throw this.#refuse('a key in double quotes', this.#here());
      const start = this.#at;
      const key = this.#readString();
      if (Object.hasOwn(object, key)) {
        this.#at = start;
        throw this.#refuse('each key once in an object', `the key ${JSON.stringify(key.slice(0, 60))} again`);
      }
      this.#skipSpace();
      if (!this.#skip(0x3a)) throw this.#refuse('":"', this.#here());
      const value = this.#readValue(depth);
      if (key === '__proto__') {
        // A plain assignment would set the prototype.
        Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
      } else {
        object[key] = value;
      }
      keys.push(key);
      indexLike ||= INDEX_LIKE.test(key);
      this.#skipSpace();
      if (this.#skip(0x2c)) continue;
      if (this.#skip(0x7d)) break;
      throw this.#refuse('"," or "}"', this.#here());
    }
    if (indexLike) keepOrder(object, keys);
    return object;
  }

  #readArray(depth: number): Json {
    this.#enter(depth);
    const array: Json[] = [];
    if (this.#skip(0x5d)) return array;
    for (;;) {
      array.push(this.#readValue(depth));
      this.#skipSpace();
      if (this.#skip(0x2c)) continue;
      if (this.#skip(0x5d)) return array;
      throw this.#refuse('"," or "]"', this.#here());
    }
  }

  /** Passes the opening bracket. */
  #enter(depth: number): void {
    if (depth > this.#maxDepth) {
      throw this.#refuse(`arrays and objects nested ${this.#maxDepth} deep at most`, 'deeper nesting');
    }
    this.#at += 1;
    this.#skipSpace();
  }

  #readString(): string {
    const text = this.#text;
    const at = this.#at;
    const end = text.indexOf('"', at + 1);
    const plain = text.slice(at + 1, end);
    if (end >= 0 && !NOT_PLAIN.test(plain)) {
      this.#at = end + 1;
      return plain;
    }
    STRING.lastIndex = at;
    const quoted = STRING.exec(text)?.[0];
    if (quoted === undefined) throw this.#refuse('a closing double quote', 'the end of the text');
    let value: string;
    try {
      value = JSON.parse(quoted) as string;
    } catch {
      throw this.#refuse('a string with JSON escapes', JSON.stringify(quoted.slice(0, 40)));
    }
    if (!value.isWellFormed()) throw this.#refuse('well-formed Unicode', 'a lone surrogate');
    this.#at = at + quoted.length;
    return value;
  }

  #readNumber(): Json {
    NUMBER.lastIndex = this.#at;
    const literal = NUMBER.exec(this.#text)?.[0];
    if (literal === undefined) throw this.#refuse('a JSON value', this.#here());
    const value = readNumber(literal);
    if (value === undefined) {
      throw this.#refuse(
        'a number that 64 bits keep (integers -2^63 to 2^64-1, others as a double prints them)',
        literal.slice(0, 60),
      );
    }
    this.#at += literal.length;
    return value;
  }

  #readWord<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#refuse('a JSON value', this.#here());
    this.#at += word.length;
    return value;
  }

  #skip(code: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== code) return false;
    this.#at += 1;
    this.#skipSpace();
    return true;
  }

  #skipSpace(): void {
    if (this.#text.charCodeAt(this.#at) > 0x20) return;
    SPACE.lastIndex = this.#at;
    SPACE.exec(this.#text);
    this.#at = SPACE.lastIndex;
  }

  #here(): string {
    return this.#at >= this.#text.length
      ? 'the end of the text'
      : JSON.stringify(this.#text.slice(this.#at, this.#at + 12));
  }

  #refuse(wanted: string, got: string): SchemalessError {
    const before = this.#text.slice(0, this.#at).split('\n');
    const position = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
    return new SchemalessError('invalid_json', `${this.#field}: wanted ${wanted}, got ${got} (${position})`, {
      field: this.#field,
      wanted,
      got,
    });
  }
}

function keepOrder(object: Record<string, Json>, keys: readonly string[]): void {
  if (Object.keys(object).every((key, position) => key === keys[position])) return;
  Object.defineProperty(object, ORDER, { value: keys });
  orderKept = true;
}
