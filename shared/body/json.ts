import { type Json, LIMITS } from '../cell.ts';
import { PackedBody } from './packed-body.ts';
import { keysOf, met } from './key-order.ts';
import { JsonReader } from './json-reader.ts';

/** Digits of the longest integers that are surely below 2^53. */
const SAFE_DIGITS = 15;

/**
 * Reads JSON text without loss: JSON.parse would round large integers, drop all but the last of duplicate keys and
 * accept lone surrogates. Integers beyond 2^53 are bigint, `__proto__` is a plain key. Throws SchemalessError
 * `invalid_json` that names `field` and the position, also for a byte order mark.
 */
export function parseJson(
  text: string,
  { field = 'body', maxDepth = LIMITS.bodyDepth }: { readonly field?: string; readonly maxDepth?: number } = {},
): Json {
  return readCanonicalJson(text, maxDepth) ?? new JsonReader(text, field, maxDepth).readAll();
}

/**
 * Reads JSON text in JavaScript's own form, as most is, by comparing it with its value written again: this takes less
 * than half of the time of reading by character. Undefined for any other text: with white space, keys twice or in
 * another order, numbers that a double prints otherwise, over 15 digits, lone surrogates, deeper nesting.
 */
export function readCanonicalJson(text: string, maxDepth: number): Json | undefined {
  // Only lone surrogates are written as escapes that begin like this.
  if (!isShallow(text, maxDepth) || text.includes('\\ud')) return undefined;
  try {
    const value: Json = JSON.parse(text);
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether the text is safe to read: no nesting beyond the limit, no integer beyond 64 bits. */
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

export interface JsonText {
  readonly text: string;
  /** True: every number is a double, and the keys' order survives JavaScript. False: maybe not. */
  readonly isPlain: boolean;
}

/** Writes JSON text, with bigints as plain integers and keys in their original order. */
export function stringifyJson(value: unknown): string {
  return writeJson(value).text;
}

/** As `stringifyJson`, and returns whether JSON.parse reads the text without loss. */
export function writeJson(value: unknown): JsonText {
  let [text, isPlain]: [string | undefined, boolean] = [undefined, true];
  met.order = false;
  try {
    // Three times as fast as with a replacer function.
    text = JSON.stringify(value);
  } catch {
    isPlain = false;
    // Node 20 has no `rawJSON`.
    text = rawJSON && JSON.stringify(value, bigintAsInteger);
  }
  return text === undefined || met.order ? { text: write(value), isPlain: false } : { text, isPlain };
}

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

/** Returns JSON text with keys sorted by UTF-16 units: equal values have equal texts. Integers keep 64 bits. */
export function sortedText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => sortedText(item)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return stringifyJson(value);
  const holder = value as { readonly [key: string]: Json };
  const members = Object.keys(holder).toSorted();
  return `{${members.map((key) => `${JSON.stringify(key)}:${sortedText(holder[key] as Json)}`).join(',')}}`;
}
