import { expect, it } from 'vitest';
import { readNumber } from '../../../shared/body/number.ts';
import { Random } from '../../support/random.ts';

const LITERALS = 100_000;

/** A value of 0 or above as an exact fraction: nothing here rounds. */
type Fraction = readonly [above: bigint, below: bigint];

/** Returns the value of a literal, and the place of its last digit but zero. */
function exactly(literal: string): readonly [value: Fraction, unit: Fraction] {
  const [mantissa = '', exponent = '0'] = literal.replace(/^-/, '').split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const power = Number(exponent) - fraction.length;
  const zeros = /0*$/.exec(whole + fraction)?.[0].length ?? 0;
  const times = (digits: bigint, to: number): Fraction =>
    to < 0 ? [digits, 10n ** BigInt(-to)] : [digits * 10n ** BigInt(to), 1n];
  return [times(BigInt(whole + fraction), power), times(1n, power + zeros)];
}

/** Returns the value of a double from its bits. */
function fractionOf(bits: bigint): Fraction {
  const [biased, stored] = [bits >> 52n, bits & (2n ** 52n - 1n)];
  const [mantissa, power] = biased === 0n ? [stored, -1074n] : [stored + 2n ** 52n, biased - 1075n];
  return power < 0n ? [mantissa, 2n ** -power] : [mantissa * 2n ** power, 1n];
}

/** Returns the sign of one minus the other. */
function compare([a, b]: Fraction, [c, d]: Fraction): number {
  const [left, right] = [a * d, c * b];
  return left < right ? -1 : left > right ? 1 : 0;
}

function distance([a, b]: Fraction, [c, d]: Fraction): Fraction {
  const difference = a * d - c * b;
  return [difference < 0n ? -difference : difference, b * d];
}

/** Returns 1 if the nearest double prints the literal's digits again, 0 halfway between two literals, else -1. */
function isKept(literal: string, number: number): number {
  if (!Number.isFinite(number)) return -1;
  const [value, unit] = exactly(literal);
  const bits = new BigUint64Array(Float64Array.of(Math.abs(number)).buffer)[0] ?? 0n;
  const off = distance(value, fractionOf(bits));
  for (const neighbour of [bits - 1n, bits + 1n])
    if (neighbour >= 0n && compare(off, distance(value, fractionOf(neighbour))) > 0)
      throw new Error(`${literal}: ${number} is not the nearest double`);
  // JavaScript prints 46 powers of two by digits that are the shortest, and not the nearest.
  if (compare(value, exactly(String(Math.abs(number)))[0]) === 0) return 1;
  return number === 0 ? -1 : compare([unit[0], unit[1] * 2n], off);
}

const random = new Random('numbers', 'literals', 0);
const digitsOf = (count: number): string => Array.from({ length: count }, () => random.integer(0, 9)).join('');

function someDouble(): number {
  const sign = random.chance(0.5) ? 1 : -1;
  const bits = (BigInt(random.integer(0, 2 ** 31 - 1)) << 32n) | BigInt(random.integer(0, 2 ** 32 - 1));
  const ofBits = new Float64Array(BigUint64Array.of(bits).buffer)[0] ?? 0;
  return (
    sign *
    random.pick([
      Number.isFinite(ofBits) ? ofBits : 0,
      random.next() * 1000,
      random.integer(0, 1_000_000) / 10 ** random.integer(0, 9),
      // Their decimals end in 5, where C and JavaScript round otherwise.
      random.integer(0, 2 ** 22) / 2 ** random.integer(0, 40),
      2 ** random.integer(-1074, 1023),
    ])
  );
}

function someLiteral(): string {
  const exponent = random.pick(['', `e${random.integer(-340, 320)}`]);
  if (random.chance(0.2)) return `${random.integer(-9, 9)}.${digitsOf(random.integer(1, 110))}${exponent}`;
  const number = someDouble();
  const digits = random.chance(0.5) ? random.integer(15, 18) : random.integer(1, 100);
  const [mantissa = '', ...power] = random
    .pick([String(number), number.toPrecision(digits), number.toExponential(digits - 1)])
    .split('e');
  const last = mantissa.length - random.pick([1, 1, 2, 3]);
  const changed =
    random.chance(0.5) && last > mantissa.indexOf('.') && mantissa.includes('.')
      ? mantissa.slice(0, last) + digitsOf(1) + mantissa.slice(last + 1)
      : mantissa;
  const zeros = changed.includes('.') && random.chance(0.2) ? '000' : '';
  return [changed + zeros, ...power].join('e');
}

it(`is kept if the nearest double prints its digits again, else refused: ${LITERALS} literals`, () => {
  const counts = { kept: 0, halfway: 0, refused: 0 };
  for (let made = 0; made < LITERALS;) {
    const literal = someLiteral();
    if (/^-?\d+$/.test(literal)) continue;
    made += 1;
    const number = Number(literal) || 0;
    const kept = isKept(literal, number);
    const digits = literal.replaceAll(/e.*|[-.]/g, '').replaceAll(/^0+|0+$/g, '').length;
    counts[kept < 0 || digits > 100 ? 'refused' : kept > 0 ? 'kept' : 'halfway'] += 1;
    const value = readNumber(literal);
    // Halfway, more than 50 digits are kept as JavaScript prints them alone.
    if (kept === 0 && digits > 50 && value === undefined) continue;
    if (!Object.is(value, kept < 0 || digits > 100 ? undefined : number)) expect.fail(`${literal}: ${value}`);
  }
  expect(counts.kept).toBeGreaterThan(LITERALS / 4);
  expect(counts.refused).toBeGreaterThan(LITERALS / 4);
  expect(counts.halfway).toBeGreaterThan(100);
});
