import { withMember } from '../body/key-order.ts';
import { isObject, type Json } from '../cell.ts';
import type { IndexField, SealedFields } from '../definitions/definitions.ts';
import { SEALED_KEY, valueAt } from '../definitions/field-value.ts';
import { wrongField } from '../errors.ts';
import { kindOf } from '../subject.ts';
import type { IndexCatalogue } from '../topology/index-catalogue.ts';

export interface SealedPath {
  /** `rider.phone` */
  readonly path: string;
  readonly steps: readonly string[];
  /** The path of the field that names its subject. */
  readonly subject: string;
  /** Its field in indexes. @default no index has it */
  readonly hashed?: IndexField;
}

/** The sealed fields of each column, in the order of their declaration. */
export type SealedPaths = ReadonlyMap<string, readonly SealedPath[]>;

export function sealedPaths(sealed: readonly SealedFields[], indexes: readonly IndexCatalogue[]): SealedPaths {
  const hashed = indexes
    .flatMap(({ versions }) => versions.filter(({ state }) => state !== 'retired'))
    .flatMap(({ definition }) => definition.fields.filter((field) => field.sealed));
  const all = sealed.flatMap(({ column, subject, fields }) =>
    fields.map((path) => {
      const field = hashed.find((one) => one.column_key === column && one.field === path);
      return { column, sealed: { path, steps: path.split('.'), subject, ...(field && { hashed: field }) } };
    }),
  );
  return new Map(
    [...Map.groupBy(all, ({ column }) => column)].map(([column, of]) => [column, of.map((one) => one.sealed)]),
  );
}

/** A value of a body to seal, or a token instead. */
export interface FoundValue {
  readonly at: SealedPath;
  readonly value: Json;
}

/**
 * Returns the values of a body to seal: those that exist and are not null. `field`: how messages name the body. Throws
 * SchemalessError `invalid_field` if a path leads through a value that is no object, and would not be sealed.
 */
export function valuesToSeal(body: Json, paths: readonly SealedPath[], field: string): readonly FoundValue[] {
  return paths.flatMap((at) => {
    for (const position of at.steps.keys()) {
      const holder = valueAt(body, at.steps.slice(0, position)) ?? null;
      if (holder === null || isObject(holder)) continue;
      const name = [field, ...at.steps.slice(0, position)].join('.');
      throw wrongField(name, `an object, since ${at.path} is sealed`, kindOf(holder));
    }
    const value = valueAt(body, at.steps) ?? null;
    return value === null ? [] : [{ at, value }];
  });
}

/** Returns a copy of a body with another value at an existing path. */
export function replaceAt(body: Json, [step, ...further]: readonly string[], value: Json): Json {
  if (step === undefined || !isObject(body)) return value;
  return withMember(body, step, replaceAt(body[step] ?? null, further, value));
}

/** Returns the token of a sealed value; undefined if the value is not sealed. */
export function tokenOf(value: Json | undefined): Json | undefined {
  return valueAt(value, [SEALED_KEY]);
}
