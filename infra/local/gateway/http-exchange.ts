import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpAnswer } from './http-answer.ts';

export interface RoutedAnswer extends HttpAnswer {
  /** Empty if no function was called. */
  readonly requestId: string;
  readonly routeKey?: string;
}

/** Closes the connection if `closing`: the server takes no further requests. */
export function send(
  response: ServerResponse,
  { status, headers, body, requestId }: RoutedAnswer,
  closing: boolean,
): void {
  // A refused body is not read to its end.
  if (closing || !response.req.complete) response.setHeader('connection', 'close');
  const bytes = Buffer.byteLength(body);
  response.writeHead(status, {
    ...headers,
    // A 304's length would be that of the body not sent; a 204 has none.
    ...(status !== 304 && status !== 204 && { 'content-length': bytes }),
    ...(requestId !== '' && { 'apigw-requestid': requestId }),
  });
  // For ASCII alone, latin1 gives the same bytes without a look at each character.
  if (typeof body === 'string' && bytes === body.length) response.end(body, 'latin1');
  else response.end(body);
}

/** Returns undefined beyond `mostBytes`, with the rest unread. Rejects if the client goes away. */
export function readBody(request: IncomingMessage, mostBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= mostBytes) return void chunks.push(chunk);
      request.pause();
      return resolve(undefined);
    });
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

export function within<T>(timeoutMs: number, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), timeoutMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
