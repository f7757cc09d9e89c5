import type { Json } from '../cell.ts';
import { describe, SchemalessError } from '../errors.ts';

/** The shape of Standard Schema (https://standardschema.dev), which Zod, Valibot, ArkType and others have. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>;
    /** Only for the compiler. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type Validated<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type TypesOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>;
export type InputOf<Schema extends StandardSchema> = TypesOf<Schema>['input'];
export type OutputOf<Schema extends StandardSchema> = TypesOf<Schema>['output'];

/** Validates a body. Throws `invalid_body` with the first invalid field; the message names all. */
export async function validate(schema: StandardSchema, body: unknown): Promise<Json> {
  const { validate } = schema['~standard'];
  const validated = await validate(body);
  if (validated.issues === undefined) return validated.value as Json;
  const wrong = validated.issues.map((issue) => ({ field: pathOf(issue), wanted: issue.message }));
  const { field = 'body', wanted = 'what its column takes' } = wrong[0] ?? {};
  throw new SchemalessError('invalid_body', wrong.map((one) => `${one.field}: ${one.wanted}`).join('; '), {
    field,
    wanted,
    got: describe(valueAt(body, validated.issues[0])),
  });
}

function keysOf({ path = [] }: Issue): readonly PropertyKey[] {
  return path.map((part) => (typeof part === 'object' ? part.key : part));
}

function pathOf(issue: Issue): string {
  return keysOf(issue).reduce<string>(
    (path, key) => (typeof key === 'number' ? `${path}[${key}]` : `${path}.${String(key)}`),
    'body',
  );
}

function valueAt(body: unknown, issue: Issue | undefined): unknown {
  const keys = issue === undefined ? [] : keysOf(issue);
  return keys.reduce<unknown>((value, key) => (Object(value) as Record<PropertyKey, unknown>)[key], body);
}
