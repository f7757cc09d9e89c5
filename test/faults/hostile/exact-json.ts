/**
 * A JSON value as its text has it: numbers as exact decimals, members in their order. This parser is for the checks
 * alone, so that the parser under test does not judge itself.
 */
export interface ExactJson {
  /** The same for texts of equal values with keys in the same order, and for no others. */
  readonly canonical: string;
  readonly string?: string;
  readonly number?: string;
  /** The members of an object; the last of two with one name. */
  readonly members?: ReadonlyMap<string, ExactJson>;
  /** The items of an array. */
  readonly items?: readonly ExactJson[];
}

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const SPACE = /[ \t\n\r]*/y;

/** Reads one JSON value. Throws an Error on invalid text. */
export function readExact(text: string): ExactJson {
  let at = 0;

  function skipSpace(): void {
    SPACE.lastIndex = at;
    SPACE.exec(text);
    at = SPACE.lastIndex;
  }

  function take(pattern: RegExp): string | undefined {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  }

  /** Consumes this character if it comes next, and the space after it. */
  function passes(character: string): boolean {
    if (text[at] !== character) return false;
    at += 1;
    skipSpace();
    return true;
  }

  function fail(wanted: string): Error {
    return new Error(`wanted ${wanted} at ${at}, got ${JSON.stringify(text.slice(at, at + 20))}`);
  }

  function readString(): string {
    let end = at;
    do end = text.indexOf('"', end + 1);
    while (end > 0 && isEscaped(text, end));
    if (end < 0) throw fail('a closing quote');
    const value = JSON.parse(text.slice(at, end + 1)) as string;
    at = end + 1;
    return value;
  }

  function readList(close: string, readOne: () => void): void {
    at += 1;
    skipSpace();
    if (passes(close)) return;
    do readOne();
    while (passes(','));
    if (!passes(close)) throw fail(close);
  }

  function readValue(): ExactJson {
    if (text[at] === '"') {
      const string = readString();
      skipSpace();
      return { canonical: JSON.stringify(string), string };
    }
    if (text[at] === '[') {
      const items: ExactJson[] = [];
      readList(']', () => items.push(readValue()));
      return { canonical: `[${items.map(({ canonical }) => canonical).join(',')}]`, items };
    }
    if (text[at] === '{') {
      const members: [string, ExactJson][] = [];
      readList('}', () => {
        if (text[at] !== '"') throw fail('a key');
        const key = readString();
        skipSpace();
        if (!passes(':')) throw fail(':');
        members.push([key, readValue()]);
      });
      return {
        canonical: `{${members.map(([key, { canonical }]) => `${JSON.stringify(key)}:${canonical}`).join(',')}}`,
        members: new Map(members),
      };
    }
    const word = take(WORD);
    const number = word === undefined ? take(NUMBER) : undefined;
    skipSpace();
    if (word !== undefined) return { canonical: word };
    if (number !== undefined) return { canonical: decimalOf(number), number };
    throw fail('a value');
  }

  skipSpace();
  const value = readValue();
  if (at < text.length) throw fail('the end');
  return value;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - 1 - slashes] === '\\') slashes += 1;
  return slashes % 2 === 1;
}

/** Returns `1200`, `1.2e3` and `1200.0` as `12e2`, and -0 as 0. */
function decimalOf(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  if (short === '') return '0';
  return `${sign}${short}e${Number(exponent) - fraction.length + digits.length - short.length}`;
}
