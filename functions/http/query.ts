import { parseCount } from '../../shared/address.ts';
import { invalidField, unknownField } from '../../shared/errors.ts';

/** The names of query parameters that a route takes. */
export interface QueryNames {
  /** These may come once. */
  readonly once?: readonly string[];
  /** These may be repeated. */
  readonly repeated?: readonly string[];
  /** Those of any other name may come, and be repeated. @default false */
  readonly others?: boolean;
}

/** The query parameters of one request, checked against the names that its route takes. */
export interface Query {
  /** Whether no parameter came at all. */
  readonly empty: boolean;
  /** The parameters of names that the route does not list, in the order in which they came first. */
  readonly others: ReadonlyMap<string, readonly string[]>;
  text(name: string): string | undefined;
  /** Every value of a repeated parameter, in order; undefined when it does not come at all. */
  texts(name: string): readonly string[] | undefined;
  integer(name: string, least: number, most: number): number | undefined;
  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined;
}

/**
 * Reads the raw query string: the gateway's own map joins repeated values with commas, which a value may hold.
 *
 * @throws SchemalessError `unknown_field`; `invalid_field` for a single parameter that comes twice
 */
export function readQuery(rawQueryString: string, names: QueryNames): Query {
  const { once = [], repeated = [], others = false } = names;
  const known = [...once, ...repeated];
  const values = new Map<string, string[]>();
  for (const [name, value] of pairs(rawQueryString)) {
    if (!others && !known.includes(name)) throw unknownField(name, known);
    const before = values.get(name);
    if (before === undefined) values.set(name, [value]);
    else if (once.includes(name)) throw invalidField(name, 'one value', `${before[0]}, then ${value}`);
    else before.push(value);
  }
  const text = (name: string): string | undefined => values.get(name)?.[0];
  return {
    empty: values.size === 0,
    others: new Map([...values].filter(([name]) => !known.includes(name))),
    text,
    texts: (name) => values.get(name),
    integer: (name, least, most) => {
      const value = text(name);
      return value === undefined ? undefined : parseDigits(value, name, least, most);
    },
    choice: (name, choices) => {
      const value = text(name);
      const choice = choices.find((candidate) => candidate === value);
      if (value !== undefined && choice === undefined) throw invalidField(name, choices.join(' or '), value);
      return choice;
    },
  };
}

/** An integer written as digits alone: no sign, no leading zeros, no exponent. Throws `invalid_field`. */
export function parseDigits(value: string, field: string, least: number, most: number, wanted?: string): number {
  // What is not digits is refused as the text that it is.
  return parseCount(/^(?:0|[1-9]\d*)$/.test(value) ? Number(value) : value, field, least, most, wanted);
}

/** Unlike URLSearchParams, refuses what is not UTF-8 instead of replacing it by another character. */
function* pairs(rawQueryString: string): Generator<readonly [string, string]> {
  for (const pair of rawQueryString.split('&')) {
    if (pair === '') continue;
    const end = pair.indexOf('=');
    const name = decode(end < 0 ? pair : pair.slice(0, end), 'query');
    yield [name, end < 0 ? '' : decode(pair.slice(end + 1), name)];
  }
}

function decode(text: string, field: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalidField(field, 'percent-encoded UTF-8', text);
  }
}
