import { isPlainJson } from '../api/plain-json.ts';
import type { Exchange } from './exchange.ts';

/** Over a `fetch` of the caller's. */
export function exchangeByFetch(send: typeof fetch, origin: string): Exchange {
  return async ({ method, target, headers, body }, timeoutMs, signal) => {
    signal?.throwIfAborted();
    const timeout = AbortSignal.timeout(timeoutMs);
    const response = await send(new URL(target, origin), {
      method,
      headers,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      ...(body === undefined ? {} : { body }),
    });
    return {
      status: response.status,
      bytes: new Uint8Array(await response.arrayBuffer()),
      contentType: response.headers.get('content-type'),
      retryAfter: response.headers.get('retry-after'),
      requestId: response.headers.get('x-request-id'),
      isPlain: isPlainJson(response.headers.get('x-json')),
    };
  };
}
