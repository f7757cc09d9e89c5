import type { OutgoingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { textOf, wholeText, type FunctionResult } from '../lambda/function-result.ts';
import { isTraceparent } from '../../../shared/api/traceparent.ts';

interface HttpAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Uint8Array;
}

/** The gateway's own answers are not problem+json, as in the cloud. */
export function gatewayAnswer(status: number, message: string): HttpAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ message }) };
}

interface FunctionAnswer {
  readonly statusCode?: unknown;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly cookies?: readonly string[];
  readonly body?: unknown;
  readonly isBase64Encoded?: boolean;
}

/** Converts a function's result in payload format 2.0. */
export function httpAnswer(result: FunctionResult): HttpAnswer {
  const answer: unknown = JSON.parse(result.text);
  // Without a status code it is the body of a 200.
  if (typeof answer !== 'object' || answer === null || !('statusCode' in answer))
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: typeof answer === 'string' ? answer : wholeText(result),
    };
  const { statusCode, headers: given, cookies, body: rest = '', isBase64Encoded } = answer as FunctionAnswer;
  const status = Number(statusCode);
  if (!Number.isInteger(status) || status < 100 || status > 599) return gatewayAnswer(500, 'Internal Server Error');
  const headers: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(given ?? {})) headers[name.toLowerCase()] = String(value);
  headers['content-type'] ??= 'text/plain; charset=utf-8';
  if (cookies !== undefined) headers['set-cookie'] = [...cookies];
  const body = result.body ?? (typeof rest === 'string' ? rest : JSON.stringify(rest));
  const isEncoded = isBase64Encoded === true && result.decoded !== true;
  return { status, headers, body: isEncoded ? Buffer.from(textOf(body), 'base64') : body };
}

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
  // For ASCII alone, latin1 gives the same bytes without a check of each character.
  if (typeof body === 'string' && bytes === body.length) response.end(body, 'latin1');
  else response.end(body);
}

/** Returns undefined beyond `mostBytes`, with the rest unread. Rejects if the client disconnects. */
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

export type AccessLine = ReturnType<typeof accessLine>;

export function accessLine(
  { method = '', url = '', headers }: IncomingMessage,
  { requestId, routeKey, headers: answered, status }: RoutedAnswer,
  milliseconds: number,
) {
  const ofAnswer = answered['x-request-id'];
  const isOwn = typeof ofAnswer === 'string' && ofAnswer !== requestId;
  const { traceparent } = headers;
  return {
    request_id: isOwn ? ofAnswer : requestId,
    ...(isOwn && { gateway_request_id: requestId }),
    ...(isTraceparent(traceparent) && { traceparent }),
    ...(routeKey !== undefined && { route: routeKey }),
    method,
    path: url.split('?', 1)[0] ?? '',
    status,
    milliseconds: Math.round(milliseconds * 10) / 10,
  };
}
