import { parseCount } from '../address.ts';
import { isObject } from '../cell.ts';
import { invalidField, missingField, unknownField } from '../errors.ts';
import {
  describeFields,
  either,
  type Components,
  type Fields,
  type Input,
  type ObjectOf,
  type Schema,
} from './shape.ts';

type InputFields = Readonly<Record<string, Input<unknown>>>;

/** Declares a value that `read` checks and `schema` describes. */
export function input<Value>(schema: Schema, read: Input<Value>['read']): Input<Value> {
  return { describe: () => schema, read };
}

/** Makes an input optional. */
export function maybe<Value>(what: Input<Value>): Input<Value | undefined> & { readonly isOptional: true } {
  return {
    ...what,
    isOptional: true,
    read: (given, field) => (given === undefined ? undefined : what.read(given, field)),
  };
}

/** Declares an object of exactly these members, read in their order; `unknown_field` names any other. */
export function members<Some extends InputFields>(fields: Some): Input<ObjectOf<Some>> {
  const names = Object.keys(fields);
  return {
    describe: (components) => closedFields(fields, components),
    read(given, field) {
      if (!isObject(given))
        throw invalidField(field, names.length === 0 ? 'an object' : `an object with ${names.join(', ')}`, given);
      // The members of the body itself are named alone.
      const prefix = field === 'body' ? '' : `${field}.`;
      const stranger = Object.keys(given).find((name) => !names.includes(name));
      if (stranger !== undefined) throw unknownField(`${prefix}${stranger}`, names);
      const read: Record<string, unknown> = {};
      for (const name of names) {
        const member = Object.hasOwn(given, name) ? given[name] : undefined;
        read[name] = (fields[name] as Input<unknown>).read(member, `${prefix}${name}`);
      }
      return read as ObjectOf<Some>;
    },
  };
}

function closedFields(fields: Fields, components: Components): Schema {
  return { ...describeFields(fields, components), additionalProperties: false };
}

/** Adds a rule over several members: `check` enforces it, and the schema lists the `alternatives`, one of which fits. */
export function checked<Value>(
  what: Input<Value>,
  alternatives: readonly Input<unknown>[],
  check: (value: Value, field: string) => void,
): Input<Value> {
  return {
    ...what,
    describe: either(...alternatives).describe,
    read(given, field) {
      const value = what.read(given, field);
      check(value, field);
      return value;
    },
  };
}

/** Declares a list of `least` to `most` items, named like `cells[3]`. */
export function items<Item>(
  item: Input<Item>,
  most: number,
  least = 0,
  wanted = least === 0 ? `an array of up to ${most} items` : `an array of ${least} to ${most} items`,
): Input<readonly Item[]> {
  return {
    describe: (components) => ({
      type: 'array',
      items: item.describe(components),
      maxItems: most,
      ...(least > 0 && { minItems: least }),
    }),
    read(given, field) {
      if (given === undefined) throw missingField(field, wanted);
      if (!Array.isArray(given)) throw invalidField(field, wanted, given);
      if (given.length > most || given.length < least) throw invalidField(field, wanted, given.length);
      return given.map((one: unknown, position) => item.read(one, `${field}[${position}]`));
    },
  };
}

/** Declares an integer from `least` to `most`. */
export function integer(least: number, most: number, wanted?: string): Input<number> {
  return input({ type: 'integer', minimum: least, maximum: most }, (given, field) =>
    parseCount(given, field, least, most, wanted),
  );
}

/** Declares text that matches a pattern. */
export function textOf(pattern: string, wanted: string): Input<string> {
  const whole = new RegExp(pattern, 'u');
  return input({ type: 'string', pattern }, (given, field) => {
    if (given === undefined) throw missingField(field, wanted);
    if (typeof given !== 'string' || !whole.test(given)) throw invalidField(field, wanted, given);
    return given;
  });
}

/** True or false; false if omitted. */
export const SWITCH = maybe(
  input({ type: 'boolean', default: false }, (given, field): boolean => {
    if (typeof given !== 'boolean') throw invalidField(field, 'true or false', given);
    return given;
  }),
);
