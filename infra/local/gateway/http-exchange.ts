import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpAnswer } from './http-answer.ts';

/** An answer of the gateway to a request. */
export interface RoutedAnswer extends HttpAnswer {
  /** Of the gateway; empty where the request came to no function. */
  readonly requestId: string;
  readonly routeKey?: string;
}

/** @param closing the server takes no further requests */
export function send(
  response: ServerResponse,
  { status, headers, body, requestId }: RoutedAnswer,
  closing: boolean,
): void {
  // A body that was refused half-way is not read to its end; and a server that closes keeps no connection.
  if (closing || !response.req.complete) response.setHeader('connection', 'close');
  const bytes = Buffer.byteLength(body);
  response.writeHead(status, {
    ...headers,
    // That of a 304 would be the length of what is not sent; a 204 has none.
    ...(status !== 304 && status !== 204 && { 'content-length': bytes }),
    ...(requestId !== '' && { 'apigw-requestid': requestId }),
  });
  // Of ASCII alone both encodings give the same bytes, this one without a look at each character.
  if (typeof body === 'string' && bytes === body.length) response.end(body, 'latin1');
  else response.end(body);
}

/** Undefined when it is larger than `mostBytes`; the rest is then left unread. Rejects when the client goes away. */
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

/** Undefined when it takes longer. */
export function within<T>(timeoutMs: number, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), timeoutMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
