import { ERROR_TEXTS } from '../../shared/error-texts.ts';
import { SchemalessError } from '../../shared/errors.ts';
import type { Answer } from './answer.ts';

/** Seconds that a caller should wait before it repeats what was not confirmed. */
export const RETRY_AFTER = 1;

/** An error as it may be shown: of one that nobody foresaw, nothing but the request id gets out. */
export function shown(error: unknown): SchemalessError {
  if (error instanceof SchemalessError) return error;
  return new SchemalessError('internal', 'An error that should not happen; the log has it under this request id', {
    cause: error,
  });
}

/** The problem document (RFC 9457) of an error. */
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
    retryAfter: status === 503 ? RETRY_AFTER : undefined,
    ...(typeof details.more?.['outcome'] === 'string' ? { outcomes: [details.more['outcome']] } : {}),
  };
}

/** Items of an answer as they are shown: an `error` among their members in the form of the API. */
export function shownItems(items: readonly unknown[]): readonly unknown[] {
  return items.map((item) => {
    if (typeof item !== 'object' || item === null || !('error' in item) || !(item.error instanceof SchemalessError))
      return item;
    return { ...item, error: shownError(item.error) };
  });
}

function shownError({ code, details, message, retry }: SchemalessError): object {
  return { code, title: ERROR_TEXTS[code].title, detail: message, retry, ...particulars(details) };
}

function particulars({ field, wanted, got, address, more }: SchemalessError['details']): object {
  return { field, wanted, got, address, ...more };
}
