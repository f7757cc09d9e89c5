/** The digits of a number that JavaScript would round, written into JSON as they are. */
export class ExactNumber {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }

  toJSON(): unknown {
    return rawJson(this.digits);
  }
}

/** Not in the compiler's library yet. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown };
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/**
 * `JSON.parse` that keeps integers beyond 2^53 as bigint: clients in other languages send all 64 bits of a `longValue`.
 * Throws a SyntaxError.
 */
export function parseExactly(text: string): unknown {
  const reviver: Reviver = (_key, value, { source = '' }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/u.test(source) ? BigInt(source) : value;
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown);
}
