import { ERROR_TEXTS } from '../../shared/error-texts.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { logger } from '../environment/log.ts';
import { particulars } from '../../shared/api/item-error.ts';
import type { Answer } from './answer.ts';

/** The seconds to wait before a retry of an unconfirmed request. */
export const RETRY_AFTER = 1;

/** Returns an error that callers may see. An unexpected error becomes `internal`, without its details. */
export function shown(error: unknown): SchemalessError {
  if (error instanceof SchemalessError) return error;
  return new SchemalessError('internal', 'An error that should not happen; the log has it under this request id', {
    cause: error,
  });
}

/** Returns the problem document (RFC 9457) of an error. */
export function problemAnswer(error: SchemalessError, requestId: string): Answer {
  const { code, details, message, retry, status } = error;
  return {
    status,
    contentType: 'application/problem+json',
    body: {
      type: 'about:blank',
      title: ERROR_TEXTS[code].title,
      status,
      detail: message,
      code,
      retry,
      request_id: requestId,
      ...particulars(details),
    },
    ...(code === 'method_not_allowed' && { headers: { allow: details.wanted ?? '' } }),
    retryAfter: status === 503 ? RETRY_AFTER : undefined,
    ...(typeof details.more?.['outcome'] === 'string' ? { outcomes: [details.more['outcome']] } : {}),
  };
}

/** Logs an operation's error, without details that may quote the request's body. */
export function logProblem(thrown: unknown, about: Record<string, unknown>): void {
  const { code, details, message, status } = shown(thrown);
  const facts = { ...about, code, field: details.field };
  if (code === 'cell_not_found' || code === 'conflict' || code === 'erased') logger.debug('answered', facts);
  else if (status < 500) logger.info('refused', facts);
  else if (code === 'unavailable') logger.warn('failed', { ...facts, detail: message });
  else logger.error('failed', { ...facts, error: thrown });
}
