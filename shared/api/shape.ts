import type { Json } from '../cell.ts';

/** A JSON Schema (2020-12), as OpenAPI 3.1 takes it. */
export type Schema = { readonly [keyword: string]: Json };

/** Schemas of named shapes, by name; `describe` adds them. */
export type Components = Record<string, Schema>;

declare const VALUE: unique symbol;

/** The shape of an API value: its type for TypeScript, its schema for the document. */
export interface Shape<out Value> {
  readonly [VALUE]?: () => Value;
  /** An optional member. */
  readonly isOptional?: true;
  /** Returns the schema. Adds the schemas of the named shapes within to `components`. */
  describe(components: Components): Schema;
}

/** A shape that a request may have. */
export interface Input<out Value> extends Shape<Value> {
  /** Returns the checked value; undefined stands for nothing. Throws a SchemalessError that names the field. */
  read(given: unknown, field: string): Value;
}

export type Of<Some> = Some extends { readonly [VALUE]?: () => infer Value } ? Value : never;

export type Fields = Readonly<Record<string, Shape<unknown>>>;
type OptionalName<Some> = {
  [Name in keyof Some]: Some[Name] extends { readonly isOptional: true } ? Name : never;
}[keyof Some];
type Flat<Some> = { [Name in keyof Some]: Some[Name] };
/** The object whose members have these shapes. */
export type ObjectOf<Some> = Flat<
  { readonly [Name in Exclude<keyof Some, OptionalName<Some>>]: Of<Some[Name]> } & {
    readonly [Name in OptionalName<Some>]?: Of<Some[Name]> | undefined;
  }
>;

/** Declares a value by its schema. */
export function shape<Value>(schema: Schema): Shape<Value> {
  return { describe: () => schema };
}

/** Adds a description to a shape. */
export function described<Some extends Shape<unknown>>(what: Some, description: string): Some {
  return { ...what, describe: (components: Components) => ({ ...what.describe(components), description }) };
}

/** Gives a shape a name in the document. */
export function named<Some extends Shape<unknown>>(name: string, what: Some): Some {
  const describe = (components: Components): Schema => {
    // Set before it is described: a recursive shape ends here.
    if (components[name] === undefined) {
      components[name] = {};
      components[name] = what.describe(components);
    }
    return { $ref: `#/components/schemas/${name}` };
  };
  return { ...what, describe };
}

export function optional<Some extends Shape<unknown>>(what: Some): Some & { readonly isOptional: true } {
  return { ...what, isOptional: true };
}

/** Declares an object of an answer. Later versions may add members. */
export function object<Some extends Fields>(fields: Some): Shape<ObjectOf<Some>> {
  return { describe: (components) => describeFields(fields, components) };
}

export function describeFields(fields: Fields, components: Components): Schema {
  const entries = Object.entries(fields);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, field]) => [name, field.describe(components)])),
    required: entries.filter(([, field]) => field.isOptional !== true).map(([name]) => name),
  };
}

export function list<Item>(items: Shape<Item>, maxItems?: number): Shape<readonly Item[]> {
  return {
    describe: (components) => ({
      type: 'array',
      items: items.describe(components),
      ...(maxItems !== undefined && { maxItems }),
    }),
  };
}

export function orNull<Value>(what: Shape<Value>): Shape<Value | null> {
  return { describe: (components) => ({ anyOf: [what.describe(components), { type: 'null' }] }) };
}

export function either<Some extends readonly Shape<unknown>[]>(...shapes: Some): Shape<Of<Some[number]>> {
  return { describe: (components) => ({ oneOf: shapes.map((one) => one.describe(components)) }) };
}

/** Declares `next` of a page. */
export function nextOf<Next>(next: Shape<Next>): Shape<Next | null> {
  return described(orNull(next), 'Send it as `after` to continue; null at the end.');
}

/** Declares an object with any member names. */
export function mapOf<Value>(values: Shape<Value>): Shape<Readonly<Record<string, Value>>> {
  return { describe: (components) => ({ type: 'object', additionalProperties: values.describe(components) }) };
}

export function oneOf<const Value extends Json>(...values: readonly Value[]): Shape<Value> {
  return shape({ enum: values });
}

export function always<const Value extends Json>(value: Value): Shape<Value> {
  return shape({ const: value });
}

export const TEXT: Shape<string> = shape({ type: 'string' });
export const FLAG: Shape<boolean> = shape({ type: 'boolean' });
export const COUNT: Shape<number> = shape({ type: 'integer', minimum: 0 });
export const DECIMAL: Shape<number> = shape({ type: 'number', minimum: 0 });
/** A time of the functions, whose clocks count milliseconds. */
export const WHEN: Shape<string> = shape({ type: 'string', format: 'date-time' });
