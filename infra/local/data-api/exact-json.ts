import { parse, stringify } from 'lossless-json';

/** Node 20 has neither this nor a reviver's third argument; the compiler's library has none of it yet. */
const { rawJSON: rawJson } = JSON as { rawJSON?(text: string): unknown };
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** The digits of a number that JavaScript would round, written into JSON by `stringifyExactly` as they are. */
export class ExactNumber {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }

  toJSON(): unknown {
    return rawJson ? rawJson(this.digits) : BigInt(this.digits);
  }
}

/** `JSON.stringify` of a value with `ExactNumber`s in it. */
export function stringifyExactly(value: object): string {
  return (rawJson ? JSON.stringify(value) : stringify(value)) ?? '';
}

/**
 * `JSON.parse` that keeps integers beyond 2^53 as bigint: clients in other languages send all 64 bits of a `longValue`.
 * Throws a SyntaxError.
 */
export function parseExactly(text: string): unknown {
  if (rawJson) {
    const reviver: Reviver = (_key, value, { source = '' }) =>
      typeof value === 'number' ? exactly(value, source) : value;
    return JSON.parse(text, reviver as (key: string, value: unknown) => unknown);
  }
  // Slow: a second for 4 MB. No shorter number is beyond 2^53.
  if (/\d{16}/u.test(text)) return parse(text, undefined, (source) => exactly(Number(source), source));
  return JSON.parse(text);
}

function exactly(value: number, source: string): number | bigint {
  return !Number.isSafeInteger(value) && /^-?\d+$/u.test(source) ? BigInt(source) : value;
}
