import { describe, type ErrorDetails, type Retry } from '../errors.ts';

/** Errors of models, in addition to the datastore's. Codes never change their meaning. */
const MODEL_ERRORS = {
  /** A change of an index field after the record was created. */
  readonly_field: 'never',
  /** Another writer has written a version since. */
  version_conflict: 'later',
} as const satisfies Record<string, Retry>;

export type ModelErrorCode = keyof typeof MODEL_ERRORS;

/** An error with a stable code, and its field and values; errors of the datastore come as they are. */
export class ModelError extends Error {
  readonly code: ModelErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ModelErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ModelError';
    this.code = code;
    this.details = details;
  }

  /** `later`: after a `reload`, or with `rebase`. */
  get retry(): Retry {
    return MODEL_ERRORS[this.code];
  }
}

export function readonlyField(field: string, value: unknown, attempted: unknown): ModelError {
  const [wanted, got] = [`${describe(value)}, which it was made with`, describe(attempted)];
  const details = { field, wanted, got };
  return new ModelError('readonly_field', `${field} is an index field: wanted ${wanted}, got ${got}`, details);
}
