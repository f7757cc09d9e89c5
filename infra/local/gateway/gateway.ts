import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { accessKeyOf, accessKeyOfRequest } from '../iam/access-key.ts';
import { API_GATEWAY, SOURCE_ARN } from '../iam/statement.ts';
import { readRights, type Rights, type RightsByKey } from '../iam/rights.ts';
import { listen, whyOtherHost } from '../server.ts';
import { localArn } from '../arn.ts';
import { textOf, type FunctionResult } from '../lambda/function-result.ts';
import {
  accessLine,
  type AccessLine,
  readBody,
  send,
  type RoutedAnswer,
  gatewayAnswer,
  httpAnswer,
} from './http-exchange.ts';
import { within } from '../within.ts';
import { checkSignature, type CallerCredentials } from './check-signature.ts';
import { corsHeaders, isPreflight, whyForeign, withCors, type CorsRules } from './cors.ts';
import { httpEvent, parseTarget } from './http-event.ts';
import { routeTable, type HttpRoute, type RouteTable } from './route-table.ts';
import { messageOf } from '../message-of.ts';

const MIB = 1024 * 1024;

/** The cloud's own limits. */
export const GATEWAY_LIMITS = {
  /** Request line and headers; else 431. */
  headerBytes: 10_240,
  /** The whole body; else 413. */
  requestBytes: 10 * MIB,
  /** A function's request or answer as JSON text; else 413 or 500. */
  functionBytes: 6_291_556,
  /** Concurrent calls of one function; else 503. Lambda's limit is 1000; here all share a few cores. */
  callsAtOnce: 128,
} as const;

const RETRY_AFTER = '1';

type Caller = (event: string) => Promise<FunctionResult>;

interface RouteTarget extends HttpRoute {
  readonly call: Caller;
  readonly load: { calls: number };
  /** Why API Gateway may not call the function, by these rights. */
  judged?: { readonly rights: Rights; readonly why: string | undefined };
}

interface GatewayOptions {
  /** Credentials that signed routes require; undefined: signatures are not checked. */
  readonly credentials?: CallerCredentials | undefined;
  readonly onAnswer?: (line: AccessLine) => void;
}

/** An HTTP API on the loopback interface. Every local caller may do everything unless it checks signatures. */
export type Gateway = Awaited<ReturnType<typeof openGateway>>;

/** Throws an `Error` that names a port in use. */
export async function openGateway(
  port: number,
  onError: (message: string) => void,
  { credentials, onAnswer }: GatewayOptions = {},
) {
  let routes: RouteTable<RouteTarget> | undefined;
  let cors: CorsRules | undefined;
  let closing = false;
  let rights = readRights({});

  const server = createServer(
    { maxHeaderSize: GATEWAY_LIMITS.headerBytes, keepAliveTimeout: 60_000, requestTimeout: 60_000, noDelay: true },
    (request, response) => {
      const began = performance.now();
      answerWithCors(request).then(
        (answer) => {
          send(response, answer, closing);
          onAnswer?.(accessLine(request, answer, performance.now() - began));
        },
        (error: unknown) => {
          onError(error instanceof Error ? (error.stack ?? error.message) : String(error));
          if (!response.destroyed) send(response, refused(500, 'Internal Server Error'), closing);
        },
      );
    },
  );

  async function answerWithCors(request: IncomingMessage): Promise<RoutedAnswer> {
    const { origin, host, 'access-control-request-method': requestedMethod } = request.headers;
    const whyOther = whyOtherHost(host);
    if (whyOther !== undefined) return refused(403, whyOther, randomUUID());
    const asked = { method: request.method ?? '', origin, requestedMethod };
    const why = whyForeign(cors, asked);
    // Refused first: a browser sends simple requests without a preflight.
    if (why !== undefined) return refused(403, why, randomUUID());
    if (cors === undefined) return answerTo(request);
    const headers = corsHeaders(cors, asked);
    if (isPreflight(asked)) return { status: 204, headers, body: '', requestId: randomUUID() };
    const answer = await answerTo(request);
    return { ...answer, headers: withCors(answer.headers, headers) };
  }

  async function answerTo(request: IncomingMessage): Promise<RoutedAnswer> {
    const target = parseTarget(request.url ?? '/');
    if (!target) return refused(400, 'Bad Request');
    if (!routes) return refused(503, 'Service Unavailable');
    const match = routes.match(request.method ?? '', target.segments);
    if (!match) return refused(404, 'Not Found');
    const body = await readBody(request, GATEWAY_LIMITS.requestBytes);
    if (!body) return refused(413, 'Request Entity Too Large');
    const forbidden = await whyForbidden(request, body, match.target);
    if (forbidden !== undefined) {
      const answer = refused(403, 'Forbidden', randomUUID());
      onError(`${answer.requestId} refused ${request.method} ${request.url?.split('?', 1)[0]}: ${forbidden}`);
      return answer;
    }
    const uncallable = whyUncallable(match.target);
    if (uncallable !== undefined) {
      const answer = refused(500, 'Internal Server Error', randomUUID());
      onError(`${answer.requestId} ${match.routeKey}: ${uncallable}`);
      return answer;
    }
    const { load, call, timeoutMs } = match.target;
    if (load.calls >= GATEWAY_LIMITS.callsAtOnce) {
      const answer = refused(503, 'Service Unavailable');
      return { ...answer, headers: { ...answer.headers, 'retry-after': RETRY_AFTER } };
    }
    const accessKeyId =
      credentials && match.target.authorization === 'AWS_IAM'
        ? accessKeyOfRequest(request.headers.authorization, request.url ?? '')
        : undefined;
    const { event, requestId } = httpEvent({ request, body, accessKeyId }, target, match);
    if (tooLong(event)) return refused(413, 'Request Too Long', requestId);
    load.calls += 1;
    try {
      const result = await within(
        timeoutMs,
        call(event).finally(() => (load.calls -= 1)),
      );
      if (result === undefined) return refused(503, 'Service Unavailable', requestId);
      if (tooLong(result.text, result.body, result.decoded)) {
        onError(`${match.routeKey}: the function's answer is over ${GATEWAY_LIMITS.functionBytes} bytes`);
        return refused(500, 'Internal Server Error', requestId);
      }
      return { ...httpAnswer(result), requestId, routeKey: match.routeKey };
    } catch (error) {
      onError(`${requestId} ${messageOf(error)}`);
      return refused(500, 'Internal Server Error', requestId);
    }
  }

  async function whyForbidden(
    { method = '', url = '', headers }: IncomingMessage,
    body: Buffer,
    { authorization, apiId }: RouteTarget,
  ): Promise<string | undefined> {
    if (authorization !== 'AWS_IAM') return undefined;
    const accessKeyId = accessKeyOfRequest(headers.authorization, url);
    if (credentials) {
      // Functions sign with their own key and the owner's secret.
      const own =
        accessKeyId !== undefined && rights.knows(accessKeyId) ? { ...credentials, accessKeyId } : credentials;
      const why = await checkSignature({ method, url, headers, body }, own);
      if (why !== undefined) return why;
    }
    const resource = localArn('execute-api', `${apiId}/$default/${method}${url.split('?', 1)[0] ?? ''}`);
    return rights.whyRefused(accessKeyId, { action: 'execute-api:Invoke', resource });
  }

  /** Judges API Gateway's right to call the function; cached while the rights stay. */
  function whyUncallable(target: RouteTarget): string | undefined {
    const { functionArn, routeKey, apiId } = target;
    if (target.judged?.rights !== rights) {
      const source = localArn('execute-api', `${apiId}/$default/${routeKey.replace(' ', '')}`);
      const call = { action: 'lambda:InvokeFunction', resource: functionArn, context: { [SOURCE_ARN]: [source] } };
      target.judged = { rights, why: rights.whyRefused(accessKeyOf(API_GATEWAY), call) };
    }
    return target.judged.why;
  }

  const bound = await listen(server, port);
  return {
    port: bound,
    url: `http://127.0.0.1:${bound}`,
    /** Serves these routes from now on (503 before); `cors` says which other origins' pages may ask. */
    serve(list: readonly HttpRoute[], callerOf: (functionArn: string) => Caller, rules?: CorsRules): void {
      cors = rules;
      const loads = new Map(list.map(({ functionArn }) => [functionArn, { calls: 0 }]));
      routes = routeTable(
        list.map((route) => ({
          routeKey: route.routeKey,
          target: { ...route, call: callerOf(route.functionArn), load: loads.get(route.functionArn) ?? { calls: 0 } },
        })),
      );
    },
    /** Sets what functions may ask of the API, and which functions the API may call. */
    async setRights(byKey: RightsByKey) {
      rights = readRights(byKey);
    },
    /** Takes no more requests, and answers the open ones for up to five seconds. */
    async close() {
      closing = true;
      const closed = once(server, 'close');
      server.close();
      if (!(await within(5000, closed))) server.closeAllConnections();
      await closed;
    },
  };
}

function refused(status: number, message: string, requestId = ''): RoutedAnswer {
  return { ...gatewayAnswer(status, message), requestId };
}

function tooLong(text: string, body: string | Uint8Array = '', decoded = false): boolean {
  // A UTF-16 unit takes six bytes at most, so most texts need no measuring.
  if ((text.length + body.length) * 6 <= GATEWAY_LIMITS.functionBytes) return false;
  return (
    Buffer.byteLength(text) +
      (body === '' ? 0 : Buffer.byteLength(JSON.stringify({ body: textOf(body, decoded) })) - 1) >
    GATEWAY_LIMITS.functionBytes
  );
}
