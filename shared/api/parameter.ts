import { parseCount } from '../address.ts';
import type { Json } from '../cell.ts';
import { invalidField } from '../errors.ts';
import { shape, type Shape } from './shape.ts';

/** What is said of a parameter of a query, beside its shape. */
interface About {
  readonly description: string;
  readonly example: Json;
}

interface Read<Value> extends About {
  /** It may come more than once. */
  readonly isRepeated?: true;
  /** A list is one value, with commas. */
  readonly isJoined?: true;
  /** `texts`: the values that came, in order; one, unless it may be repeated. Throws `invalid_field`. */
  read(texts: readonly string[], name: string): Value;
}

/** A parameter of a query: text, of which `read` makes a value. */
export interface Parameter<Value> extends Read<Value>, Shape<Value | undefined> {
  readonly isOptional: true;
}

/** One that has to come; `wanted` says what it is. */
export interface RequiredParameter<Value> extends Read<Value>, Shape<Value> {
  readonly wanted: string;
}

export type AnyParameter = Read<unknown> & Shape<unknown> & { readonly wanted?: string };

/** `read`: takes the one value that comes. */
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

/** An integer written as digits alone: no sign, no leading zeros, no exponent. */
export function digits(
  of: Shape<number>,
  bounds: readonly [least: number, most: number],
  about: About,
): Parameter<number> {
  return parameter(of, about, (text, name) => parseDigits(text, name, ...bounds));
}

/** Throws `invalid_field`: what is not digits as the text that it is. */
export function parseDigits(text: string, field: string, least: number, most: number, wanted?: string): number {
  return parseCount(/^(?:0|[1-9]\d*)$/u.test(text) ? Number(text) : text, field, least, most, wanted);
}

export function choice<const Value extends string>(
  choices: readonly Value[],
  about: About & { readonly default?: Value },
): Parameter<Value> {
  const { default: usual, ...said } = about;
  const of = shape<Value>({ enum: choices, ...(usual !== undefined && { default: usual }) });
  return parameter(of, said, (text, name) => {
    const chosen = choices.find((one) => one === text);
    if (chosen === undefined) throw invalidField(name, choices.join(' or '), text);
    return chosen;
  });
}

/** `true` or `false`; false when it does not come. */
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

/** Text, which `read` may refuse. */
export function textParameter(
  of: Shape<string>,
  about: About,
  read: (text: string, name: string) => string = (text) => text,
): Parameter<string> {
  return parameter(of, about, read);
}
