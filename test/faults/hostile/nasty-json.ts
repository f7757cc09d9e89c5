import type { Random } from '../../support/random.ts';
import { words } from './words.ts';

const STRINGS = [
  '',
  ...words(
    'a __proto__ constructor toJSON length 0 1 10 \0 \n " \\',
    "' ` 😀 \u{10ffff} \u202e \ufeff \u2028 é e\u0301",
  ),
  "'; DROP TABLE entity; --",
  "Duplicate entry 'x' for key 'entity.cell'",
  ...words('%00 ../.. \u007f', 'x'.repeat(300), '2026-01-31T08:00:00Z 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0'),
] as const;
const NUMBERS = words(
  '0 -0 1 -1 0.1 1.0 1e2 12.50 1E+3 9007199254740991 9007199254740993 -9223372036854775808',
  '18446744073709551615 5e-324 1.7976931348623157e308 4294967296 1e21 1e-7',
);
/** Now and then, what no value may be. */
const WRONG = [
  ...words('1e999 18446744073709551616 01 "\\ud800" "\\udc00" NaN {"a":1,"a":2} "\t"'),
  '',
  '0.1000000000000000055511151231257827',
] as const;
const SPACES = ['', '', '', ' ', '\n', '\t\r\n '] as const;
const MOST_MEMBERS = 4;
const MOST_DEPTH = 6;

/** JSON text of a value drawn at random, out of strings, numbers and members that something could stumble over. */
export function nastyJson(random: Random, depth = 0): string {
  const space = random.pick(SPACES);
  return `${space}${value(random, depth)}${space}`;
}

function value(random: Random, depth: number): string {
  const draw = random.next();
  if (draw < 0.02) return random.pick(WRONG);
  if (draw < 0.05) return nested(random);
  if (draw < 0.12) return random.pick(['true', 'false', 'null']);
  if (draw < 0.35 || depth >= MOST_DEPTH) return random.pick(NUMBERS);
  if (draw < 0.6) return text(random);
  const length = random.integer(0, MOST_MEMBERS);
  if (draw < 0.75) return `[${Array.from({ length }, () => nastyJson(random, depth + 1)).join(',')}]`;
  return `{${Array.from({ length }, () => `${text(random)}:${nastyJson(random, depth + 1)}`).join(',')}}`;
}

/** A string, as it is or with every unit escaped. */
function text(random: Random): string {
  const string = `${random.pick(STRINGS)}${random.chance(0.3) ? random.integer(0, 99) : ''}`;
  if (random.chance(0.8)) return JSON.stringify(string);
  return `"${Array.from({ length: string.length }, (_, at) => `\\u${string.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;
}

function nested(random: Random): string {
  const depth = random.integer(80, 110);
  return random.chance(0.5)
    ? '['.repeat(depth) + ']'.repeat(depth)
    : '{"a":'.repeat(depth) + 'null' + '}'.repeat(depth);
}

const INSERTED = words('\0 " \\ { } [ ] , : \ufeff \\u0000 \\ud800 1e999 - é');

/** The bytes with one to four things wrong: a bit, a byte more, a part left out or doubled. */
export function mutated(random: Random, bytes: Buffer): Buffer {
  let result = Buffer.from(bytes);
  for (let left = random.integer(1, 4); left > 0; left -= 1) {
    const at = random.integer(0, result.length);
    const to = Math.min(result.length, at + random.integer(1, 12));
    const draw = random.next();
    if (draw < 0.3 && at < result.length) result[at] = (result[at] ?? 0) ^ (1 << random.integer(0, 7));
    else if (draw < 0.6)
      result = Buffer.concat([result.subarray(0, at), Buffer.from(random.pick(INSERTED)), result.subarray(at)]);
    else if (draw < 0.8) result = Buffer.concat([result.subarray(0, at), result.subarray(to)]);
    else result = Buffer.concat([result.subarray(0, to), result.subarray(at)]);
  }
  return result;
}
