import './quiet.ts';
import { parseTarget } from '../../../infra/local/gateway/http-event.ts';
import { routeTable, type RouteTable } from '../../../infra/local/gateway/route-table.ts';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { makeDefinitionsHandler } from '../../../functions/define-datastores.ts';
import { makeErasuresHandler } from '../../../functions/erase-cells.ts';
import { makeMovesHandler } from '../../../functions/manage-moves.ts';
import { makeTriggersHandler } from '../../../functions/manage-triggers.ts';
import { makeQueryHandler } from '../../../functions/query-index.ts';
import { makeReadHandler } from '../../../functions/read-cells.ts';
import { makeWriteHandler } from '../../../functions/write-cells.ts';
import {
  DEFAULT_HANDLER,
  GATEWAY_ROUTES,
  ROUTES,
  withHeads,
  type OperationName,
} from '../../../shared/api/operations.ts';
import { MESSAGE_PACK } from '../../../shared/api/message-pack.ts';
import { readMessagePack } from '../../../shared/body/read-message-pack.ts';
import { listen } from '../../support/listen.ts';
import type { Everything } from './fake-deployment.ts';

export interface GatewayRequest {
  readonly method: string;
  /** With its query string, encoded. */
  readonly path: string;
  /** Text, or bytes as the gateway passes them on in base64. */
  readonly body?: string | Uint8Array | undefined;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The access key, if requests have to be signed. */
  readonly signedBy?: string;
}

export interface GatewayAnswer {
  /** Undefined without such a route. */
  readonly operation: OperationName | undefined;
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** The body as it goes over the network. */
  readonly bytes: Buffer;
  /** The size of the handler's whole answer. */
  readonly payloadBytes: number;
  /** The answer's body, parsed. */
  readonly json: Readonly<Record<string, unknown>>;
}

type Gateway = (request: GatewayRequest) => Promise<GatewayAnswer>;

let requests = 0;

/** Acts as API Gateway between a client and the handlers: finds the route, makes the event, decodes the path. */
export function gateway(deployment: Everything | (() => Everything)): Gateway {
  const open = typeof deployment === 'function' ? deployment : () => deployment;
  const handlers = {
    'define-datastores': makeDefinitionsHandler(open),
    'erase-cells': makeErasuresHandler(open),
    'manage-moves': makeMovesHandler(open),
    'manage-triggers': makeTriggersHandler(open),
    'query-index': makeQueryHandler(open),
    'read-cells': makeReadHandler(open),
    'write-cells': makeWriteHandler(open),
  };
  const [all, ofGateway] = [tableOf(withHeads(ROUTES)), tableOf(GATEWAY_ROUTES)];
  return async ({ method, path, body, headers = {}, signedBy }) => {
    const { segments, rawPath, rawQueryString } = parseTarget(path) ?? {
      segments: [],
      rawPath: path,
      rawQueryString: '',
    };
    const route = all.match(method, segments)?.target;
    // Some have no separate route there.
    const led = ofGateway.match(method, segments);
    requests += 1;
    const event = {
      version: '2.0',
      routeKey: led?.routeKey,
      rawPath,
      rawQueryString,
      headers,
      pathParameters: led?.parameters,
      requestContext: {
        requestId: `request-${requests}`,
        http: { method, path: rawPath },
        ...(signedBy !== undefined && {
          authorizer: { iam: { accessKey: signedBy, userArn: `arn:aws:iam::123456789012:user/${signedBy}` } },
        }),
      },
      isBase64Encoded: body instanceof Uint8Array,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : Buffer.from(body).toString('base64') }),
    } as unknown as APIGatewayProxyEventV2;
    const result = await handlers[route?.handler ?? DEFAULT_HANDLER](event, {} as Context);
    const bytes = bytesOf(result);
    const payloadBytes = Buffer.byteLength(JSON.stringify(result));
    return {
      operation: route?.operation,
      status: result.statusCode ?? 0,
      headers: result.headers ?? {},
      text: bytes.toString(),
      bytes,
      payloadBytes,
      json: readAnswer(result.headers ?? {}, bytes),
    };
  };
}

function bytesOf({ body = '', isBase64Encoded = false }: APIGatewayProxyStructuredResultV2): Buffer {
  return Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
}

function readAnswer(headers: Readonly<Record<string, unknown>>, bytes: Buffer): Record<string, unknown> {
  if (bytes.length === 0) return {};
  const plain = headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
  if (headers['content-type'] === MESSAGE_PACK) return readMessagePack(plain) as Record<string, unknown>;
  return JSON.parse(plain.toString()) as Record<string, unknown>;
}

type Route = (typeof GATEWAY_ROUTES)[number];

function tableOf(routes: readonly Route[]): RouteTable<Route | undefined> {
  const keyed = routes.map((route) => ({ routeKey: `${route.method} ${route.path}`, target: route }));
  return routeTable<Route | undefined>([...keyed, { routeKey: '$default', target: undefined }]);
}

/** The same as the `fetch` of a client. */
export function gatewayFetch(answer: Gateway): typeof globalThis.fetch {
  return async (input, init) => {
    const url = new URL(String(input));
    const { status, headers, bytes } = await answer({
      method: init?.method ?? 'GET',
      path: `${url.pathname}${url.search}`,
      body: init?.body as string | undefined,
      headers: Object.fromEntries(new Headers(init?.headers)),
    });
    return new Response(bytes, { status, headers: headers as Record<string, string> });
  };
}

/** Serves a deployment over HTTP on this machine. @param answered receives each answer */
export async function serveGateway(
  deployment: Everything,
  answered: (method: string, status: number) => void = () => undefined,
): Promise<{ readonly url: string; close(): void }> {
  const answer = gateway(deployment);
  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '/' } = request;
    const body = await text(request);
    const { status, headers, bytes } = await answer({ method, path: url, body: body === '' ? undefined : body });
    answered(method, status);
    response.writeHead(status, headers as Record<string, string>).end(bytes);
  });
  return { url: await listen(server), close: () => void server.close() };
}
