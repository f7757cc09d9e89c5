import type { Json } from '../../cell.ts';
import type { ErrorCode } from '../../errors.ts';
import type { QueryParameter } from '../parameters.ts';
import type { Schema } from '../schema.ts';

/** What the OpenAPI document says of one operation, beside its route. */
export interface Description {
  readonly summary: string;
  readonly more?: string;
  readonly query?: readonly QueryParameter[];
  readonly request?: {
    readonly schema: Schema;
    readonly example: Json;
    /** The request may come without a body. @default false */ readonly optional?: boolean;
  };
  readonly answers: Readonly<
    Record<number, { readonly means: string; readonly schema: Schema; readonly example: Json }>
  >;
  /** Its answers hold bodies of cells, and go in MessagePack to who asks for that. @default false */
  readonly bodies?: boolean;
  /** The codes of the problems that can come. */
  readonly problems: readonly ErrorCode[];
  /** Of those whose status is another one here than their code's. */
  readonly statuses?: Readonly<Partial<Record<ErrorCode, number>>>;
}

/** Problems of every operation. */
export const ANY = ['unknown_field', 'internal'] as const satisfies readonly ErrorCode[];
/** Problems of every operation on a datastore. */
export const OF_DATASTORE = [...ANY, 'unknown_datastore', 'unavailable'] as const satisfies readonly ErrorCode[];
/** Problems of every operation that takes a request body. */
export const OF_BODY = [
  'invalid_json',
  'invalid_field',
  'missing_field',
  'request_too_large',
] as const satisfies readonly ErrorCode[];
