import type { ErrorCode } from '../errors.ts';
import { ERROR_CODE, PARTICULARS, RETRY } from './cell-shapes.ts';
import { named, object, said, shape, TEXT, type Components, type Schema } from './shape.ts';

/** The document of a problem. */
const PROBLEM = named(
  'Problem',
  said(
    object({
      type: TEXT,
      title: TEXT,
      status: shape<number>({ type: 'integer' }),
      detail: TEXT,
      code: ERROR_CODE,
      retry: RETRY,
      request_id: TEXT,
      ...PARTICULARS,
    }),
    'RFC 9457, with a stable code.',
  ),
);

export const GATEWAY_REFUSAL = named(
  'GatewayRefusal',
  said(object({ message: TEXT }), 'From the gateway itself, not from the datastore.'),
);

/** The problem documents with one of these codes. */
export function problemWith(codes: readonly ErrorCode[], components: Components): Schema {
  return { allOf: [PROBLEM.describe(components), { type: 'object', properties: { code: { enum: codes } } }] };
}
