const SMALLEST_INTEGER = -(2n ** 63n);
const LARGEST_INTEGER = 2n ** 64n - 1n;
/** Sign and digits of the longest integers that are kept; converting a longer literal would be work for nothing. */
const LONGEST_INTEGER = 20;
/** Every decimal of up to 15 digits survives the way into a double and back (IEEE 754 binary64). */
const SAFE_DIGITS = 15;
const ZERO = 0x30;

/**
 * The value of a JSON number literal, or undefined when neither 64 bits of integer nor a double keep it: integers from
 * -2^63 to 2^64-1 (bigint beyond ±2^53), and others whose nearest double prints the same value, as `0.1` and `1.0`.
 */
export function readNumber(literal: string): number | bigint | undefined {
  const integral = /^-?\d+$/.test(literal);
  const number = Number(literal);
  if (integral) {
    if (literal.length <= SAFE_DIGITS || Number.isSafeInteger(number)) return number === 0 ? 0 : number;
    if (literal.length <= LONGEST_INTEGER) {
      const integer = BigInt(literal);
      if (isKeptInteger(integer)) return integer;
    }
  } else if (literal.length <= SAFE_DIGITS && !/[eE]/.test(literal)) {
    return number === 0 ? 0 : number;
  }
  if (!Number.isFinite(number) || normalized(literal) !== normalized(String(number))) return undefined;
  return number === 0 ? 0 : number;
}

export function isKeptInteger(integer: bigint): boolean {
  return integer >= SMALLEST_INTEGER && integer <= LARGEST_INTEGER;
}

/** Returns sign, trimmed digits and exponent: one form for each decimal, in linear time. Undefined beyond doubles. */
function normalized(literal: string): string | undefined {
  const [, sign = '', whole = '', fraction = '', minus = '', exponent = ''] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?)0*(\d*))?$/.exec(literal) ?? [];
  const digits = `${whole}${fraction}`;
  const [start, end] = [digits.search(/[1-9]/), lastDigit(digits)];
  if (start < 0) return '0';
  if (exponent.length > SAFE_DIGITS) return undefined;
  const power = (minus === '-' ? -1 : 1) * Number(exponent);
  return `${sign}${digits.slice(start, end + 1)}e${power - fraction.length + digits.length - 1 - end}`;
}

/** Returns the position of the last digit but zero, or -1; a regular expression would take quadratic time. */
function lastDigit(digits: string): number {
  let at = digits.length - 1;
  while (digits.charCodeAt(at) === ZERO) at -= 1;
  return at;
}
