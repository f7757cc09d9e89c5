import { parseCount } from '../address.ts';
import type { Json } from '../cell.ts';
import { invalidField } from '../errors.ts';
import { shape, type Shape } from './shape.ts';

/** The description of a query parameter, in addition to its shape. */
interface About {
  readonly description: string;
  readonly example: Json;
}

interface Read<Value> extends About {
  /** It may be repeated. */
  readonly isRepeated?: true;
  /** A list is one value, separated by commas. */
  readonly isJoined?: true;
  /** Parses the values, in order; one, unless it may be repeated. Throws `invalid_field`. */
  read(texts: readonly string[], name: string): Value;
}

/** A query parameter: text that `read` parses. */
export interface Parameter<Value> extends Read<Value>, Shape<Value | undefined> {
  readonly isOptional: true;
}

/** A required parameter; `wanted` describes it. */
export interface RequiredParameter<Value> extends Read<Value>, Shape<Value> {
  readonly wanted: string;
}

export type AnyParameter = Read<unknown> & Shape<unknown> & { readonly wanted?: string };

/** Declares a parameter with one value, which `read` parses. */
export function parameter<Value>(
  of: Shape<unknown>,
  about: About,
  read: (text: string, name: string) => Value,
): Parameter<Value> {
  return { ...about, describe: of.describe, isOptional: true, read: ([text = ''], name) => read(text, name) };
}

export function required<Value>(one: Parameter<Value>, wanted: string): RequiredParameter<Value> {
  const { description, example, describe, read } = one;
  return { description, example, describe, read, wanted };
}

/** Declares an integer in digits alone: no sign, no leading zeros, no exponent. */
export function digits(
  of: Shape<number>,
  bounds: readonly [least: number, most: number],
  about: About,
): Parameter<number> {
  return parameter(of, about, (text, name) => parseDigits(text, name, ...bounds));
}

/** Parses digits. Throws `invalid_field`, which quotes other text as it is. */
export function parseDigits(text: string, field: string, least: number, most: number, wanted?: string): number {
  return parseCount(/^(?:0|[1-9]\d*)$/u.test(text) ? Number(text) : text, field, least, most, wanted);
}

export function choice<const Value extends string>(
  choices: readonly Value[],
  about: About & { readonly default?: Value },
): Parameter<Value> {
  const { default: usual, ...described } = about;
  const of = shape<Value>({ enum: choices, ...(usual !== undefined && { default: usual }) });
  return parameter(of, described, (text, name) => {
    const chosen = choices.find((one) => one === text);
    if (chosen === undefined) throw invalidField(name, choices.join(' or '), text);
    return chosen;
  });
}

/** Declares `true` or `false`; false if omitted. */
export function flag(description: string): Parameter<boolean> {
  const { describe } = shape({ enum: ['true', 'false'], default: 'false' });
  const { read } = choice(['true', 'false'], { description, example: 'true' });
  return {
    description,
    example: 'true',
    describe,
    isOptional: true,
    read: (texts, name) => read(texts, name) === 'true',
  };
}

/** Declares text, which `read` may refuse. */
export function textParameter(
  of: Shape<string>,
  about: About,
  read: (text: string, name: string) => string = (text) => text,
): Parameter<string> {
  return parameter(of, about, read);
}
