import { closestName } from './closest-name.ts';

/** `never`: fix the request, or give up. `later`: repeat it as it is. */
export type Retry = 'never' | 'later';

interface ErrorKind {
  readonly status: number;
  readonly retry: Retry;
}

/** All error codes, whose meaning never changes. The table in `infra/docs/api.md` is made from this list. */
export const ERRORS = {
  invalid_json: { status: 400, retry: 'never' },
  invalid_field: { status: 400, retry: 'never' },
  invalid_body: { status: 400, retry: 'never' },
  unknown_field: { status: 400, retry: 'never' },
  missing_field: { status: 400, retry: 'never' },
  unknown_route: { status: 404, retry: 'never' },
  method_not_allowed: { status: 405, retry: 'never' },
  unknown_datastore: { status: 404, retry: 'never' },
  unknown_shard: { status: 404, retry: 'never' },
  unknown_index: { status: 404, retry: 'never' },
  unknown_trigger: { status: 404, retry: 'never' },
  unknown_move: { status: 404, retry: 'never' },
  move_refused: { status: 409, retry: 'never' },
  denied: { status: 403, retry: 'never' },
  managed_by_deployment: { status: 403, retry: 'never' },
  invalid_definition: { status: 400, retry: 'never' },
  fixed_definition: { status: 409, retry: 'never' },
  still_defined: { status: 409, retry: 'never' },
  would_discard_data: { status: 409, retry: 'never' },
  cell_not_found: { status: 404, retry: 'never' },
  conflict: { status: 409, retry: 'never' },
  condition_failed: { status: 409, retry: 'never' },
  erased: { status: 410, retry: 'never' },
  subject_forgotten: { status: 409, retry: 'never' },
  unknown_erasure: { status: 404, retry: 'never' },
  body_too_large: { status: 413, retry: 'never' },
  request_too_large: { status: 413, retry: 'never' },
  unsupported_encoding: { status: 415, retry: 'never' },
  answer_too_large: { status: 413, retry: 'never' },
  no_root_key: { status: 500, retry: 'never' },
  undecodable_body: { status: 500, retry: 'never' },
  index_building: { status: 503, retry: 'later' },
  internal: { status: 500, retry: 'later' },
  overloaded: { status: 503, retry: 'later' },
  unavailable: { status: 503, retry: 'later' },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorDetails {
  /** The invalid field or parameter, as the caller wrote it: `cells[3].ref_key`. */
  readonly field?: string;
  /** The accepted values. */
  readonly wanted?: string;
  /** The value received, shortened. */
  readonly got?: string;
  /** The address of the cell concerned: `CellAddress`. */
  readonly address?: { readonly row_key: string; readonly column_name: string; readonly ref_key: number };
  readonly cause?: unknown;
  /** The answer's own value, if it differs from the code's. @default the code's */
  readonly retry?: Retry;
  /** Likewise: a write to an erased address is refused as a conflict. @default the code's */
  readonly status?: number;
  /** Further members of the problem document, for instance `stale` of a 404. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** The one error class of the datastore: a stable code, whether to retry, and what was wrong with what. */
export class SchemalessError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'SchemalessError';
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return this.details.status ?? ERRORS[this.code].status;
  }

  get retry(): Retry {
    return this.details.retry ?? ERRORS[this.code].retry;
  }

  get field(): string | undefined {
    return this.details.field;
  }

  get wanted(): string | undefined {
    return this.details.wanted;
  }

  get got(): string | undefined {
    return this.details.got;
  }

  /** The request's id in the server's log; undefined without an answer. */
  get requestId(): string | undefined {
    const id = this.details.more?.['request_id'];
    return typeof id === 'string' ? id : undefined;
  }
}

/** Returns the error for an invalid value; the message names field, wanted and got. */
export function invalidField(field: string, wanted: string, value: unknown): SchemalessError {
  return wrongField(field, wanted, describe(value));
}

/** As `invalidField`, with `got` as text: for a secret value, or another code. */
export function wrongField(
  field: string,
  wanted: string,
  got: string,
  code: ErrorCode = 'invalid_field',
): SchemalessError {
  return new SchemalessError(code, `${field}: wanted ${wanted}, got ${got}`, { field, wanted, got });
}

export function missingField(field: string, wanted: string): SchemalessError {
  return wrongField(field, wanted, 'nothing', 'missing_field');
}

/** `known`: accepted names. `otherwise`: accepted names with another meaning. */
export function unknownField(
  field: string,
  known: readonly string[],
  otherwise: readonly string[] = [],
): SchemalessError {
  const names = [known, otherwise].filter(({ length }) => length > 0).map((some) => some.join(', '));
  const wanted = names.length === 0 ? 'none at all' : `one of ${names.join('; or ')}`;
  const likely = closestName(field, [...known, ...otherwise]);
  const hint = likely === undefined ? '' : `; did you mean ${likely}?`;
  const details = { field, wanted, got: field };
  return new SchemalessError('unknown_field', `${field} is not known here: wanted ${wanted}${hint}`, details);
}

/** Renders any value for a message, short and safe: never a whole body. */
export function describe(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}…` : value);
    case 'bigint':
    case 'number':
    case 'boolean':
    case 'undefined':
      return String(value);
    case 'object':
      return value === null ? 'null' : Array.isArray(value) ? 'an array' : 'an object';
    default:
      return `a ${typeof value}`;
  }
}
