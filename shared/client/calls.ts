import type { CellAddress, Json } from '../cell.ts';
import type { CallLimits } from './options.ts';
import type { SchemalessError } from '../errors.ts';

export interface Reply {
  readonly status: number;
  readonly json: { readonly [member: string]: Json };
}

export type Attempt =
  | FailedAttempt
  | ({ readonly reply: Reply } & { readonly [Member in Exclude<keyof FailedAttempt, 'reply'>]?: undefined });

export interface FailedAttempt {
  readonly reply?: undefined;
  readonly error: SchemalessError;
  readonly again: boolean;
  readonly retryAfter: string | null;
  /** The failure may not be the store's: another endpoint may answer. */
  readonly elsewhere?: boolean;
}

export type BatchRoute = 'batch-read' | 'batch-query' | 'batch-put';

export interface Call {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** Parts of the path after the datastore, none for the datastore itself; each is encoded. */
  readonly path: readonly (string | number)[];
  /** Undefined ones are omitted; a list is repeated. */
  readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  readonly body?: unknown;
  /** Further statuses than 2xx that are answers, unless they have a problem's code. @default none */
  readonly statuses?: readonly number[] | undefined;
  /** The batch route for such calls. */
  readonly joins?: BatchRoute | undefined;
  /** Of a put: the address in its path. */
  readonly address?: CellAddress;
}

/** Sends a call until it is answered, and returns the answer. Throws SchemalessError. */
export type Connection = (call: Call) => Promise<Reply>;

/** A connection whose calls may each have limits. */
export type BoundedConnection = (call: Call, limits?: CallLimits) => Promise<Reply>;

/** Sends a call, and returns the JSON of its answer. The tests of the API check its shape. */
export async function answerTo<Answer>(send: Connection, call: Call): Promise<Answer> {
  return (await send(call)).json as unknown as Answer;
}
