const SMALLEST_INTEGER = -(2n ** 63n);
const LARGEST_INTEGER = 2n ** 64n - 1n;
/** Sign and digits of the longest integers that are kept; longer literals need no conversion. */
const LONGEST_INTEGER = 20;
/** Every decimal of up to 15 digits survives conversion to a double and back (IEEE 754 binary64). */
const SAFE_DIGITS = 15;
/** The most that JavaScript prints of a double. */
const MOST_DIGITS = 100;
const ZERO = 0x30;

/**
 * Returns the value of a JSON number literal: an integer from -2^63 to 2^64-1 (bigint beyond ±2^53), or the nearest
 * double. The double must print the literal again with as many significant digits, as those of C's `%.17g` do: else
 * digits would be lost, and the result is undefined. Negative zero becomes 0.
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
  } else if ((literal.length <= SAFE_DIGITS && !/[eE]/.test(literal)) || String(number) === literal) {
    return number === 0 ? 0 : number;
  }
  if (!Number.isFinite(number) || !isPrinted(literal, number, integral)) return undefined;
  return number === 0 ? 0 : number;
}

export function isKeptInteger(integer: bigint): boolean {
  return integer >= SMALLEST_INTEGER && integer <= LARGEST_INTEGER;
}

/** Returns whether the shortest text of a double, or the one with as many digits as the literal, has its value. */
function isPrinted(literal: string, number: number, integral: boolean): boolean {
  const [wanted, shortest] = [decimalOf(literal), decimalOf(String(number))];
  const digits = wanted.digits.length;
  if (isSame(wanted, shortest)) return true;
  // JSON text shows a larger integer by its shortest digits, which other readers take for exact.
  if (integral || digits === 0 || digits > MOST_DIGITS) return false;
  if (isSame(wanted, decimalOf(number.toPrecision(digits)))) return true;
  // Halfway between two literals JavaScript prints the larger one, C the even one. Of longer literals the digits behind
  // the hundredth could decide.
  const exact = decimalOf(number.toPrecision(MOST_DIGITS));
  return digits <= MOST_DIGITS / 2 && exact.digits === `${wanted.digits}5` && exact.power === wanted.power - 1;
}

/** A decimal without its sign: `digits` have no zeros around them, and are times 10 to the `power`. */
interface Decimal {
  readonly digits: string;
  readonly power: number;
}

function isSame(one: Decimal, other: Decimal): boolean {
  return one.digits === other.digits && one.power === other.power;
}

/** Reads a literal in linear time: one form for each decimal. The power is infinite for the longest exponents. */
export function decimalOf(literal: string): Decimal {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  const digits = `${whole}${fraction}`;
  const [start, end] = [digits.search(/[1-9]/), lastDigit(digits)];
  if (start < 0) return { digits: '', power: 0 };
  return { digits: digits.slice(start, end + 1), power: Number(exponent) - fraction.length + digits.length - 1 - end };
}

/** Returns the position of the last digit but zero, or -1; a regular expression would take quadratic time. */
function lastDigit(digits: string): number {
  let at = digits.length - 1;
  while (digits.charCodeAt(at) === ZERO) at -= 1;
  return at;
}
