import { withMember } from '../body/key-order.ts';
import type { Json } from '../cell.ts';
import type { IndexField, SealedFields } from '../definitions/definitions.ts';
import { memberHolder, SEALED_KEY } from '../definitions/field-value.ts';
import { wrongField } from '../errors.ts';
import { kindOf } from '../subject.ts';
import type { IndexCatalogue } from '../topology/index-catalogue.ts';

export interface SealedPath {
  /** `rider.phone` */
  readonly path: string;
  readonly steps: readonly string[];
  /** The path of what names its subject. */
  readonly subject: string;
  /** What indexes have it as. @default none has it */
  readonly hashed?: IndexField;
}

/** By column, its sealed fields in the order in which they were declared. */
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

/** A value of a body that is to be sealed, or a token in its place. */
export interface FoundValue {
  readonly at: SealedPath;
  readonly value: Json;
}

/**
 * What of a body is to be sealed: what is there and not null. `field`: how messages name the body. Throws
 * SchemalessError `invalid_field` where a path leads through something that is no object, and would not be sealed.
 */
export function valuesToSeal(body: Json, paths: readonly SealedPath[], field: string): readonly FoundValue[] {
  return paths.flatMap((at) => {
    let value: Json | undefined = body;
    for (const [position, step] of at.steps.entries()) {
      const holder = memberHolder(value);
      if (!holder && value !== null && value !== undefined) {
        const name = [field, ...at.steps.slice(0, position)].join('.');
        throw wrongField(name, `an object, since ${at.path} is sealed`, kindOf(value));
      }
      value = holder && Object.hasOwn(holder, step) ? holder[step] : undefined;
    }
    return value === undefined || value === null ? [] : [{ at, value }];
  });
}

export function valueAt(body: Json, steps: readonly string[]): Json | undefined {
  let value: Json | undefined = body;
  for (const step of steps) {
    const holder = memberHolder(value);
    value = holder && Object.hasOwn(holder, step) ? holder[step] : undefined;
  }
  return value;
}

/** A copy of a body with another value at a path that it has. */
export function replaceAt(body: Json, [step, ...further]: readonly string[], value: Json): Json {
  const holder = memberHolder(body);
  if (step === undefined || !holder) return value;
  return withMember(holder, step, replaceAt(holder[step] ?? null, further, value));
}

/** The token of what stands in a sealed place; undefined where that is no sealed value. */
export function tokenOf(value: Json | undefined): Json | undefined {
  const holder = memberHolder(value);
  return holder && Object.hasOwn(holder, SEALED_KEY) ? holder[SEALED_KEY] : undefined;
}
