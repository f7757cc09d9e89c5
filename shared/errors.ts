import { closestName } from './closest-name.ts';

/** What the caller should do: mend the request, give up, or repeat it as it is. */
export type Retry = 'never' | 'later';

interface ErrorKind {
  readonly status: number;
  readonly retry: Retry;
  /** What it means, one line. */
  readonly title: string;
  /** What the caller can do about it, one line. */
  readonly cure: string;
}

/**
 * Every error code there is. Codes never change their meaning; the table in `infra/docs/api.md` is made from this list.
 */
export const ERRORS = {
  invalid_json: {
    status: 400,
    retry: 'never',
    title: 'The request body is not JSON that can be kept',
    cure: 'Mend the JSON at the place that the detail names',
  },
  invalid_field: {
    status: 400,
    retry: 'never',
    title: 'A field or parameter has a value that cannot be used',
    cure: 'Send what `wanted` says in the field that `field` names',
  },
  unknown_field: {
    status: 400,
    retry: 'never',
    title: 'A field or query parameter that this route does not know',
    cure: 'Leave it out, or correct its name',
  },
  missing_field: {
    status: 400,
    retry: 'never',
    title: 'A field or parameter that this route needs is not there',
    cure: 'Send it',
  },
  unknown_route: {
    status: 404,
    retry: 'never',
    title: 'No such path',
    cure: 'See `GET /v1/openapi.json` for the routes',
  },
  unknown_datastore: {
    status: 404,
    retry: 'never',
    title: 'No datastore of this name',
    cure: 'Use one that is defined, or define and deploy it',
  },
  unknown_shard: {
    status: 404,
    retry: 'never',
    title: 'The datastore has no shard of this number',
    cure: 'Use 0 to the number of shards less one',
  },
  unknown_index: {
    status: 404,
    retry: 'never',
    title: 'The datastore has no index of this name',
    cure: 'Use one that is defined, or define and deploy it',
  },
  unknown_trigger: {
    status: 404,
    retry: 'never',
    title: 'The datastore has no trigger of this name',
    cure: 'Use one that is defined, or define and deploy it',
  },
  cell_not_found: {
    status: 404,
    retry: 'never',
    title: 'No cell is at this address',
    cure: 'With `stale: true` it may be there: ask again, of the writer',
  },
  conflict: {
    status: 409,
    retry: 'never',
    title: 'Another body is at this address; cells never change',
    cure: 'Read the cell, then write a higher ref key',
  },
  body_too_large: {
    status: 413,
    retry: 'never',
    title: "The cell's body is over its limit",
    cure: 'Split the value over several columns or ref keys',
  },
  request_too_large: {
    status: 413,
    retry: 'never',
    title: 'The request is over its limit',
    cure: 'Send fewer cells a request',
  },
  answer_too_large: {
    status: 413,
    retry: 'never',
    title: 'The item does not fit into this answer',
    cure: 'Ask for it alone, or in a smaller batch',
  },
  undecodable_body: {
    status: 500,
    retry: 'never',
    title: 'The stored body of this cell cannot be decoded',
    cure: 'Look at the cell at the address given: its bytes were damaged',
  },
  index_building: {
    status: 503,
    retry: 'later',
    title: 'The index, or the definition of it that can answer this, is being built',
    cure: 'Repeat it once the build is complete; `progress` says how far it is',
  },
  internal: {
    status: 500,
    retry: 'later',
    title: 'An error that should not happen',
    cure: 'Repeat it; report it with the request id',
  },
  overloaded: {
    status: 503,
    retry: 'later',
    title: 'More requests at once than the group of this row can serve',
    cure: 'Repeat it after `Retry-After` seconds, and send fewer at once: nothing was begun',
  },
  unavailable: {
    status: 503,
    retry: 'later',
    title: 'Not confirmed: no node that could answer was reached in time',
    cure: 'Repeat it after `Retry-After` seconds: every request can be repeated safely',
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorDetails {
  /** The field or parameter at fault, as the caller wrote it: `cells[3].ref_key`. */
  readonly field?: string;
  /** What would have been accepted. */
  readonly wanted?: string;
  /** What came, shortened. */
  readonly got?: string;
  /** Where the cell concerned is: `CellAddress`. */
  readonly address?: { readonly row_key: string; readonly column_name: string; readonly ref_key: number };
  readonly cause?: unknown;
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
    return ERRORS[this.code].status;
  }

  get retry(): Retry {
    return ERRORS[this.code].retry;
  }
}

/** A field's value is not what was wanted; the message says all three. */
export function invalidField(field: string, wanted: string, value: unknown): SchemalessError {
  const got = describe(value);
  return new SchemalessError('invalid_field', `${field}: wanted ${wanted}, got ${got}`, { field, wanted, got });
}

export function missingField(field: string, wanted: string): SchemalessError {
  return new SchemalessError('missing_field', `${field}: wanted ${wanted}, got nothing`, {
    field,
    wanted,
    got: 'nothing',
  });
}

/**
 * @param known names that would do
 * @param otherwise names that would do, and mean something else @default none
 */
export function unknownField(
  field: string,
  known: readonly string[],
  otherwise: readonly string[] = [],
): SchemalessError {
  const names = [known, otherwise].filter(({ length }) => length > 0).map((some) => some.join(', '));
  const wanted = names.length === 0 ? 'none at all' : `one of ${names.join('; or ')}`;
  const likely = closestName(field, [...known, ...otherwise]);
  const hint = likely === undefined ? '' : `; did you mean ${likely}?`;
  return new SchemalessError('unknown_field', `${field} is not known here: wanted ${wanted}${hint}`, {
    field,
    wanted,
    got: field,
  });
}

/** A short, safe rendering of any value for a message: never the whole of a body. */
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
