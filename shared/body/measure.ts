import { LIMITS, type Json } from '../cell.ts';
import { invalidField, SchemalessError } from '../errors.ts';
import { needsText } from './key-order.ts';
import { isKeptInteger } from './number.ts';

interface Gauge {
  bytes: number;
  /** Only JSON text keeps the value, so it is not stored as MessagePack. */
  text: boolean;
  /** Each number counts as much as the longest one: printing numbers is most of the work. */
  readonly atMost: boolean;
}

/**
 * Checks that a value is JSON that can be kept. `field`: its name in messages. `limit`: bytes of UTF-8 as compact JSON.
 * Throws SchemalessError `invalid_field` that names the position inside the value; `body_too_large`.
 */
export function checkBody(value: unknown, field = 'body', limit: number = LIMITS.bodyBytes): Pick<Gauge, 'text'> {
  // Nearly all bodies are so far below the limit that an estimate suffices.
  const estimate: Gauge = { bytes: 0, text: false, atMost: true };
  measure(value, field, 0, estimate);
  if (estimate.bytes <= limit) return estimate;
  const gauge: Gauge = { bytes: 0, text: false, atMost: false };
  measure(value, field, 0, gauge);
  if (gauge.bytes > limit) {
    const wanted = `at most ${limit} bytes of JSON`;
    const details = { field, wanted, got: `${gauge.bytes} bytes` };
    throw new SchemalessError('body_too_large', `${field}: wanted ${wanted}, got ${gauge.bytes}`, details);
  }
  return gauge;
}

/** `-0.0000012345678901234567` */
const LONGEST_NUMBER = 25;

/** Returns the size of a JSON value, as compact JSON in bytes of UTF-8. */
export function jsonBytes(value: Json): number {
  const gauge: Gauge = { bytes: 0, text: false, atMost: false };
  measure(value, 'body', Number.NEGATIVE_INFINITY, gauge);
  return gauge.bytes;
}

function measure(value: unknown, field: string, depth: number, gauge: Gauge): void {
  switch (typeof value) {
    case 'string': {
      const bytes = quotedBytes(value);
      if (bytes === undefined) throw invalidField(field, 'well-formed Unicode', 'a string with a lone surrogate');
      gauge.bytes += bytes;
      return;
    }
    case 'number':
      if (!Number.isFinite(value)) throw invalidField(field, 'a finite number', value);
      gauge.bytes += gauge.atMost ? LONGEST_NUMBER : String(value).length;
      return;
    case 'bigint':
      if (!isKeptInteger(value)) throw invalidField(field, 'an integer from -2^63 to 2^64-1', value);
      gauge.bytes += String(value).length;
      return;
    case 'boolean':
      gauge.bytes += value ? 4 : 5;
      return;
    case 'object':
      if (value === null) gauge.bytes += 4;
      else measureNested(value, field, depth + 1, gauge);
      return;
    default:
      throw invalidField(field, 'a JSON value', value);
  }
}

function measureNested(value: object, field: string, depth: number, gauge: Gauge): void {
  if (depth > LIMITS.bodyDepth)
    throw invalidField(field, `arrays and objects nested ${LIMITS.bodyDepth} deep at most`, 'deeper nesting');
  if (Array.isArray(value)) {
    gauge.bytes += Math.max(2, value.length + 1);
    for (let position = 0; position < value.length; position += 1)
      measure(value[position], `${field}[${position}]`, depth, gauge);
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    const got = `a ${value.constructor?.name ?? 'special object'}`;
    throw invalidField(field, 'a plain object, an array or a simple value', got);
  }
  const object = value as { readonly [key: string]: Json };
  if (needsText(object)) gauge.text = true;
  const keys = Object.keys(object);
  gauge.bytes += Math.max(2, keys.length + 1);
  for (const key of keys) {
    const bytes = quotedBytes(key);
    if (bytes === undefined) throw invalidField(field, 'well-formed Unicode in keys', 'a lone surrogate');
    gauge.bytes += bytes + 1;
    measure(object[key], field, depth, gauge);
  }
}

/** Characters that JSON does not write as one byte: those that it must escape, and those longer in UTF-8. */
const NOT_PLAIN = /[^\u0020\u0021\u0023-\u005b\u005d-\u007f]/;
// oxlint-disable-next-line no-control-regex -- exactly the characters that JSON must escape
const ESCAPED = /["\\\u0000-\u001f]/;

/** Returns the bytes of a text in quotes; undefined if it is not well-formed Unicode. */
function quotedBytes(text: string): number | undefined {
  if (!NOT_PLAIN.test(text)) return text.length + 2;
  if (!text.isWellFormed()) return undefined;
  return ESCAPED.test(text) ? Buffer.byteLength(JSON.stringify(text)) : Buffer.byteLength(text) + 2;
}
