import { crc32 } from 'node:zlib';
import { rowKeyBytes, UUID } from '../address.ts';
import { isObject, type Json } from '../cell.ts';
import { parseTime, toSqlTime } from '../time.ts';
import type { FieldType } from './definitions.ts';

/** A field's value in an index; a bigint beyond 2^53, a time in UTC with six decimals, null without a value. */
export type FieldValue = string | number | bigint | boolean | null;

export interface ValueByType {
  readonly UUID: string;
  readonly string: string;
  /** RFC 3339 with its zone. */
  readonly datetime: string;
  readonly integer: number | bigint;
  readonly number: number;
  readonly boolean: boolean;
}

/** Longest string that is kept in an index, in bytes of UTF-8. */
export const STRING_BYTES = 255;

const INT64 = { least: -(2n ** 63n), most: 2n ** 63n - 1n };

/** A JSON value as a field of this type, or undefined when it is none. */
export function toFieldValue(value: Json, type: FieldType): FieldValue | undefined {
  switch (type) {
    case 'UUID':
      return typeof value === 'string' && UUID.test(value) ? value.toLowerCase() : undefined;
    case 'string':
      return typeof value === 'string' && value.isWellFormed() && Buffer.byteLength(value) <= STRING_BYTES
        ? value
        : undefined;
    case 'integer':
      if (typeof value === 'bigint') return value >= INT64.least && value <= INT64.most ? value : undefined;
      return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
    case 'number':
      return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'datetime':
      return toTime(value);
    default:
      return type satisfies never;
  }
}

function toTime(value: Json): string | undefined {
  if (typeof value !== 'string') return undefined;
  try {
    return parseTime(value, '');
  } catch {
    return undefined;
  }
}

/** The key of a sealed value in stored bodies: `{"$sealed": token}`, with `$hash` where an index has it. */
export const SEALED_KEY = '$sealed';
/** The key next to it: the keyed hash of the value, of the type that indexes give the field. */
export const HASH_KEY = '$hash';

/**
 * The value that a body has at a path; of a `sealed` one its keyed hash. Null where it is missing or null; undefined
 * where
 * it is of another type, or has no hash.
 */
export function readField(
  body: Json | undefined,
  path: string,
  type: FieldType,
  sealed: boolean = false,
): FieldValue | undefined {
  const value = valueAt(body, path.split('.'));
  if (value === undefined || value === null) return null;
  if (!sealed) return toFieldValue(value, type);
  const hash = valueAt(value, [HASH_KEY]);
  return hash === undefined ? undefined : toFieldValue(hash, type);
}

/** The value at a path; undefined where there is none. */
export function valueAt(body: Json | undefined, steps: readonly string[]): Json | undefined {
  let value = body;
  for (const step of steps) value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return value;
}

/** A value as query strings write it. Undefined when it is none of this type. */
export function fromText(text: string, type: FieldType): FieldValue | undefined {
  switch (type) {
    case 'integer':
      if (!/^-?\d{1,20}$/.test(text)) return undefined;
      return Number.isSafeInteger(Number(text)) ? Number(text) : toFieldValue(BigInt(text), type);
    case 'number': {
      if (!/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return undefined;
      const number = Number(text);
      // A rounded integer would find other values.
      const isInteger = /^-?\d+$/.test(text) && !Number.isSafeInteger(number);
      return !Number.isFinite(number) || (isInteger && BigInt(text) !== BigInt(number)) ? undefined : number;
    }
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    default:
      return toFieldValue(text, type);
  }
}

/** A value as a key of maps: values of one type that are equal give equal texts. */
export function keyOfValue(value: FieldValue): string {
  return String(value);
}

export const WANTED_VALUE: Readonly<Record<FieldType, string>> = {
  UUID: 'a UUID',
  string: `a string of up to ${STRING_BYTES} bytes`,
  integer: 'an integer of 64 bits',
  number: 'a number',
  boolean: 'true or false',
  datetime: 'a time with zone, like 2026-01-31T08:00:00Z',
};

/** Returns the shard of a shard field's value: CRC32 of UUID bytes or text, as an operator finds it by hand. */
export function shardOfValue(value: Exclude<FieldValue, null>, type: FieldType, shards: number): number {
  return crc32(hashed(value, type)) % shards;
}

function hashed(value: Exclude<FieldValue, null>, type: FieldType): Uint8Array | string {
  switch (type) {
    case 'UUID':
      return rowKeyBytes(String(value));
    case 'boolean':
      return value === true ? '1' : '0';
    case 'datetime':
      return toSqlTime(String(value));
    default:
      return String(value);
  }
}
