import { isObject, type CellAddress, type Json } from '../cell.ts';
import { ERRORS, SchemalessError, type ErrorCode, type ErrorDetails } from '../errors.ts';
import type { Attempt, FailedAttempt } from './calls.ts';
import type { Incoming } from './exchange.ts';

type JsonObject = { readonly [member: string]: Json };

/** Error codes of refusals without a problem document, from a gateway or a proxy. */
const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'denied',
  403: 'denied',
  404: 'unknown_route',
  408: 'unavailable',
  413: 'request_too_large',
  414: 'request_too_large',
  431: 'request_too_large',
  429: 'unavailable',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};

/** Returns the error that a problem document, or an item's error, describes. */
export function errorOf(problem: JsonObject, status?: number, requestId: string | null = null): SchemalessError {
  const { type: _type, title: _title, status: _status, ...specified } = problem;
  const { code, detail, field, wanted, got, address, retry, ...more } = specified;
  const details: ErrorDetails = {
    ...(typeof field === 'string' && { field }),
    ...(typeof wanted === 'string' && { wanted }),
    ...(typeof got === 'string' && { got }),
    ...(isObject(address) && { address: address as unknown as CellAddress }),
    ...((retry === 'never' || retry === 'later') && { retry }),
    more: requestId === null ? more : { request_id: requestId, ...more },
  };
  if (typeof code === 'string' && isErrorCode(code)) return new SchemalessError(code, String(detail), details);
  // A newer server may have codes that this client does not know.
  const message = detail ?? problem['message'] ?? 'no reason given';
  const known = BY_STATUS[status ?? 0];
  return new SchemalessError(
    known ?? 'internal',
    `Answered ${status ?? 'an item'} ${String(code ?? '')}: ${String(message)}`,
    {
      // The same request will be refused again.
      ...(known === undefined && status !== undefined && status < 500 && { retry: 'never' as const }),
      ...details,
      more: { ...details.more, answered: status },
    },
  );
}

export function noAnswer(message: string, cause: unknown): FailedAttempt {
  return { error: new SchemalessError('unavailable', message, { cause }), again: true, retryAfter: null };
}

/** Returns the attempt of one answer of a batch. */
export function attemptOf(status: number, json: JsonObject): Attempt {
  return status === 200 ? { reply: { status, json } } : failed(status, json);
}

export function failed(status: number, problem: JsonObject, answer?: Incoming): FailedAttempt {
  const { retryAfter = null, requestId = null } = answer ?? {};
  const error = errorOf(problem, status, requestId);
  return { error, again: error.retry === 'later', retryAfter };
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

export function asError(thrown: unknown, message: string): SchemalessError {
  if (thrown instanceof SchemalessError) return thrown;
  return new SchemalessError('unavailable', `${message}: ${String(thrown)}`, { cause: thrown });
}
