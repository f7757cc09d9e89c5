import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { PSEUDO } from '../arn.ts';
import type { Match } from './route-table.ts';

type Target = NonNullable<ReturnType<typeof parseTarget>>;

/** Splits a request's target; undefined for broken percent-encoding. */
export function parseTarget(url: string) {
  const at = url.indexOf('?');
  const path = at < 0 ? url : url.slice(0, at);
  const rawQueryString = at < 0 ? '' : url.slice(at + 1);
  const segments = path.slice(1).split('/');
  if (!path.includes('%')) return { rawPath: path, segments, rawQueryString };
  try {
    const decoded = segments.map((segment) => decodeURIComponent(segment));
    return { rawPath: `/${decoded.join('/')}`, segments: decoded, rawQueryString };
  } catch {
    return undefined;
  }
}

const API_ID = 'local';

interface AdmittedRequest {
  readonly request: IncomingMessage;
  readonly body: Buffer;
  /** The signer, if signatures are checked. */
  readonly accessKeyId: string | undefined;
}

/** Returns the event of payload format 2.0 as JSON text, and its request id. */
export function httpEvent(
  { request, body, accessKeyId }: AdmittedRequest,
  target: Target,
  match: Match<unknown>,
): { event: string; requestId: string } {
  const { headers, cookies } = headersOf(request);
  const now = Date.now();
  const requestId = randomUUID();
  const text = isUtf8(body);
  const event = {
    version: '2.0',
    routeKey: match.routeKey,
    rawPath: target.rawPath,
    rawQueryString: target.rawQueryString,
    ...(cookies && { cookies }),
    headers,
    ...(target.rawQueryString !== '' && { queryStringParameters: queryOf(target.rawQueryString) }),
    requestContext: {
      accountId: PSEUDO.account,
      apiId: API_ID,
      ...(accessKeyId !== undefined && {
        authorizer: {
          iam: {
            accessKey: accessKeyId,
            accountId: PSEUDO.account,
            callerId: accessKeyId,
            userArn: `arn:aws:iam::${PSEUDO.account}:user/${accessKeyId}`,
            userId: accessKeyId,
          },
        },
      }),
      domainName: headers['host'] ?? 'localhost',
      domainPrefix: API_ID,
      http: {
        method: request.method,
        path: target.rawPath,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp: request.socket.remoteAddress ?? '',
        userAgent: headers['user-agent'] ?? '',
      },
      requestId,
      routeKey: match.routeKey,
      stage: '$default',
      time: commonLogTime(now),
      timeEpoch: now,
    },
    ...(Object.keys(match.parameters).length > 0 && { pathParameters: match.parameters }),
    ...(body.length > 0 && { body: body.toString(text ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !text,
  };
  return { event: JSON.stringify(event), requestId };
}

function headersOf({ headersDistinct, socket }: IncomingMessage): {
  headers: Record<string, string>;
  cookies: string[] | undefined;
} {
  const { cookie, ...others } = headersDistinct;
  const headers: Record<string, string> = {
    ...Object.fromEntries(Object.entries(others).map(([name, values = []]) => [name, values.join(',')])),
    'x-forwarded-for': socket.remoteAddress ?? '',
    'x-forwarded-port': String(socket.localPort ?? ''),
    'x-forwarded-proto': 'http',
  };
  return { headers, cookies: cookie?.flatMap((value) => value.split(/; */u)) };
}

function queryOf(rawQueryString: string): Record<string, string> {
  const query = new URLSearchParams(rawQueryString);
  return Object.fromEntries([...new Set(query.keys())].map((name) => [name, query.getAll(name).join(',')]));
}

let lastSecond = 0;
let lastTime = '';

/** Returns `20/Nov/2026:22:07:05 +0000`, computed once a second. */
function commonLogTime(now: number): string {
  const second = Math.floor(now / 1000);
  if (second !== lastSecond) {
    const [, day, month, year, time] = /^\w+, (\d+) (\w+) (\d+) ([\d:]+)/u.exec(new Date(now).toUTCString()) ?? [];
    lastTime = `${day}/${month}/${year}:${time} +0000`;
    lastSecond = second;
  }
  return lastTime;
}
