import { describe, type ErrorDetails, type Retry } from '../errors.ts';

/** What models refuse by themselves, before or beside what the datastore does. Codes never change their meaning. */
const MODEL_ERRORS = {
  /** An index field was to be changed after the record was made. */
  readonly_field: 'never',
  /** Somebody else has written a version meanwhile. */
  version_conflict: 'later',
} as const satisfies Record<string, Retry>;

export type ModelErrorCode = keyof typeof MODEL_ERRORS;

/** A stable code, and what was wrong with what; the errors of the datastore come as they are. */
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
