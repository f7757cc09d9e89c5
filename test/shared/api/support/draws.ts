import * as fc from 'fast-check';
import type { Json } from '../../../../shared/cell.ts';

type Schema = Readonly<Record<string, unknown>>;

const ODD: readonly Json[] = [null, true, -1, 0.5, 1e300, '', ' ', 'x', '*', 'ab'.repeat(300), [], [1], {}, { x: 1 }];

/** Values that fit a schema, as far as it says so by itself: what several members say together is left to chance. */
export function fitting(schema: Schema, components: Readonly<Record<string, Schema>>): fc.Arbitrary<Json> {
  const within = (one: unknown): fc.Arbitrary<Json> => fitting(one as Schema, components);
  const { $ref, const: constant, enum: values, oneOf, anyOf, type } = schema;
  if (typeof $ref === 'string') return within(components[$ref.split('/').at(-1) ?? '']);
  if (constant !== undefined) return fc.constant(constant as Json);
  if (Array.isArray(values)) return fc.constantFrom(...(values as Json[]));
  const either = (oneOf ?? anyOf) as readonly Schema[] | undefined;
  if (either !== undefined && type === undefined) return fc.oneof(...either.map(within));
  const [kind] = [type].flat();
  if (kind === 'string') return texts(schema);
  if (kind === 'boolean') return fc.boolean();
  if (kind === 'integer' || kind === 'number') return numbers(schema);
  if (kind === 'array') {
    const { minItems: minLength = 0, maxItems = 3 } = schema as {
      readonly minItems?: number;
      readonly maxItems?: number;
    };
    return fc.array(within(schema['items']), { minLength, maxLength: Math.min(maxItems, minLength + 3) });
  }
  if (kind === 'object') return objects(schema, within);
  return fc.constantFrom<Json>(null, 1, 'text', { city: 'Lisbon' });
}

function texts(schema: Schema): fc.Arbitrary<string> {
  const {
    format,
    pattern,
    minLength = 0,
    maxLength = 40,
  } = schema as {
    readonly format?: string;
    readonly pattern?: string;
    readonly minLength?: number;
    readonly maxLength?: number;
  };
  if (format === 'uuid') return fc.uuid();
  if (format === 'date-time') return fc.constantFrom('2026-01-31T08:00:00Z', '2020-02-29T23:59:59.123456+02:00');
  // Looks ahead are left out: what fits without them is refused now and then, which the judge knows.
  if (pattern !== undefined && !pattern.startsWith('^[^'))
    return fc
      .stringMatching(new RegExp(pattern.replaceAll(/\(\?[!=](?:[^()]|\([^()]*\))*\)/gu, ''), 'u'), {
        maxLength: Math.max(maxLength, 64),
      })
      .filter((text) => !/[^\x20-\x7e]/u.test(text));
  const plain = fc.string({ minLength, maxLength: Math.min(maxLength, 40) });
  return pattern === undefined ? plain : plain.filter((text) => new RegExp(pattern, 'u').test(text));
}

function numbers(schema: Schema): fc.Arbitrary<number> {
  const { minimum: min = 0, maximum: max = Number.MAX_SAFE_INTEGER } = schema as {
    readonly minimum?: number;
    readonly maximum?: number;
  };
  return fc.oneof(fc.constantFrom(min, max), fc.integer({ min, max: Math.min(max, min + 5) }));
}

function objects(schema: Schema, within: (one: unknown) => fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  const {
    properties = {},
    required = [],
    propertyNames,
    additionalProperties,
  } = schema as {
    readonly properties?: Readonly<Record<string, unknown>>;
    readonly required?: readonly string[];
    readonly propertyNames?: { readonly pattern: string };
    readonly additionalProperties?: unknown;
  };
  if (propertyNames !== undefined) {
    const names = fc.stringMatching(new RegExp(propertyNames.pattern, 'u'), { maxLength: 30 });
    return fc.dictionary(names, within(additionalProperties), { minKeys: 1, maxKeys: 3 });
  }
  const members = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, within(one)]));
  return fc.record(members, { requiredKeys: [...required] }) as fc.Arbitrary<Json>;
}

/** Changes one thing in a fitting value: replaces a value, or leaves out or adds a member. */
export function nearly(value: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc
    .tuple(value, fc.nat(), fc.constantFrom(...ODD), fc.constantFrom('replace', 'leave out', 'add'))
    .map(([whole, at, odd, how]) => {
      const places = placesIn(whole);
      return changed(whole, places[at % places.length] ?? [], odd, how);
    });
}

type Place = readonly (string | number)[];

function placesIn(value: Json, place: Place = []): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [place];
  return [place, ...Object.entries(value).flatMap(([name, one]) => placesIn(one as Json, [...place, name]))];
}

function changed(value: Json, [first, ...rest]: Place, odd: Json, how: string): Json {
  if (first === undefined)
    return how === 'add' && typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { ...value, stranger: odd }
      : odd;
  if (Array.isArray(value))
    return value.map((one: Json, at) => (String(at) === first ? changed(one, rest, odd, how) : one));
  const members = value as Readonly<Record<string, Json>>;
  if (rest.length === 0 && how === 'leave out')
    return Object.fromEntries(Object.entries(members).filter(([name]) => name !== first));
  return { ...members, [first]: changed(members[first] ?? null, rest, odd, how) };
}
