import type { ExactNumber } from './exact-json.ts';

/** A value as the API writes it; exactly one member. Blobs are base64. */
export type Field =
  | { readonly isNull: true }
  | { readonly booleanValue: boolean }
  | { readonly longValue: number | ExactNumber }
  | { readonly doubleValue: number }
  | { readonly stringValue: string }
  | { readonly blobValue: string };

/** A value as a request writes it, once checked. */
export type ParameterValue =
  | { readonly kind: 'null' }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'long'; readonly value: bigint }
  | { readonly kind: 'double'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'blob'; readonly value: Buffer };

export const TYPE_HINTS = ['DATE', 'DECIMAL', 'JSON', 'TIME', 'TIMESTAMP', 'UUID'] as const;
export type TypeHint = (typeof TYPE_HINTS)[number];

export interface Parameter {
  readonly name: string;
  readonly value: ParameterValue;
  readonly typeHint: TypeHint | undefined;
}
