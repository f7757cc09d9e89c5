/** The shape of Standard Schema (https://standardschema.dev), which Zod, Valibot, ArkType and others have. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>;
    /** Of the compiler alone. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type Validated<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

export interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type TypesOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>;
export type InputOf<Schema extends StandardSchema> = TypesOf<Schema>['input'];
export type OutputOf<Schema extends StandardSchema> = TypesOf<Schema>['output'];
