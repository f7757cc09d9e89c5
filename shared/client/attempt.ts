import type { Json } from '../cell.ts';
import type { SchemalessError } from '../errors.ts';

export interface Reply {
  readonly status: number;
  readonly json: { readonly [member: string]: Json };
}

export type Attempt = AnsweredAttempt | FailedAttempt;

interface AnsweredAttempt {
  readonly reply: Reply;
  readonly error?: undefined;
  readonly again?: undefined;
  readonly retryAfter?: undefined;
  readonly elsewhere?: undefined;
}

export interface FailedAttempt {
  readonly reply?: undefined;
  readonly error: SchemalessError;
  readonly again: boolean;
  readonly retryAfter: string | null;
  /** Nothing says that the store had a part in it: another endpoint may answer. */
  readonly elsewhere?: boolean;
}
