import { createHash } from 'node:crypto';
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';

export interface CallerCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<NodeJS.Dict<string | string[]>>;
  readonly body: Buffer;
}

const SERVICE = 'execute-api';
/** AWS's limit for clock differences. */
const CLOCK_MS = 5 * 60_000;
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=(?<accessKeyId>[^/,\s]+)\/(?<day>\d{8})\/(?<region>[^/,\s]+)\/(?<service>[^/,\s]+)\/aws4_request,\s*SignedHeaders=(?<names>[^,\s]+),\s*Signature=(?<signature>[0-9a-f]{64})$/u;
const DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/u;

/**
 * Checks the AWS Signature Version 4 of a request: for `execute-api` in any region, at most five minutes old, over
 * method, path, query, body, `host` and all `x-amz-…` headers. A presigned URL is valid for its own time; a header
 * takes precedence.
 * Returns why the request is refused, or undefined.
 */
export async function checkSignature(
  request: ReceivedRequest,
  credentials: CallerCredentials,
  now = Date.now(),
): Promise<string | undefined> {
  const header = headerOf(request, 'authorization');
  const presigned = header === undefined ? presignedIn(request.url) : undefined;
  const {
    accessKeyId,
    day,
    region = '',
    service,
    names = '',
    signature,
  } = AUTHORIZATION.exec(presigned?.authorization ?? header ?? '')?.groups ?? {};
  if (signature === undefined) return 'it has no signature';
  if (accessKeyId !== credentials.accessKeyId) return `the access key ${accessKeyId} is unknown`;
  if (service !== SERVICE) return `it is signed for ${service}, not for ${SERVICE}`;

  const signed = new Set(names.split(';'));
  const unsigned = ['host', ...Object.keys(request.headers).filter((name) => name.startsWith('x-amz-'))].filter(
    (name) => !signed.has(name),
  );
  if (unsigned.length > 0) return `its signature leaves out the headers ${unsigned.join(', ')}`;
  const missing = [...signed].filter((name) => headerOf(request, name) === undefined);
  if (missing.length > 0) return `its signature names the headers ${missing.join(', ')}, which it lacks`;
  const date = presigned?.date ?? headerOf(request, 'x-amz-date') ?? '';
  const time = timeOf(date);
  if (time === undefined || date.slice(0, 8) !== day) return 'its signature and x-amz-date are not of the same day';
  const lifeMs = presigned ? presigned.expiresIn * 1000 : CLOCK_MS;
  if (time - now > CLOCK_MS || now - time > lifeMs)
    return `it was signed at ${date}, more than ${presigned ? `${presigned.expiresIn} seconds` : 'five minutes'} from now`;
  const hash = headerOf(request, 'x-amz-content-sha256');
  if (hash !== undefined && hash !== createHash('sha256').update(request.body).digest('hex'))
    return 'its body is not the one that was signed';

  const signing = { credentials, region, signingDate: new Date(time), expiresIn: presigned?.expiresIn };
  const wanted = await signatureOf({ ...request, url: presigned?.url ?? request.url }, signed, signing);
  return wanted === signature ? undefined : 'its signature is that of another request, or was made with another secret';
}

interface Signing {
  readonly credentials: CallerCredentials;
  readonly region: string;
  readonly signingDate: Date;
  readonly expiresIn: number | undefined;
}

/** AWS's maximum, a week. */
const MOST_SECONDS = 7 * 24 * 3600;
const OF_SIGNATURE = new Set(['Algorithm', 'Credential', 'Date', 'Expires', 'SignedHeaders', 'Signature']);

/** Returns undefined if a part is missing or invalid. */
function presignedIn(url: string) {
  const [path = '', ...rest] = url.split('?');
  const pairs = rest.join('?').split('&');
  const isOfSignature = (pair: string): boolean =>
    pair.startsWith('X-Amz-') && OF_SIGNATURE.has(pair.slice('X-Amz-'.length).split('=', 1)[0] ?? '');
  const query = queryOf(pairs.filter(isOfSignature).join('&'));
  const of = (name: string): string => query?.[`X-Amz-${name}`]?.join() ?? '';
  const expiresIn = Number(of('Expires'));
  if (!Number.isInteger(expiresIn) || expiresIn < 1 || expiresIn > MOST_SECONDS) return undefined;
  const left = pairs.filter((pair) => !isOfSignature(pair)).join('&');
  return {
    authorization: `${of('Algorithm')} Credential=${of('Credential')}, SignedHeaders=${of('SignedHeaders')}, Signature=${of('Signature')}`,
    date: of('Date'),
    expiresIn,
    url: left === '' ? path : `${path}?${left}`,
  };
}

/** Returns the expected signature; undefined for a request that cannot be signed. */
async function signatureOf(
  request: ReceivedRequest,
  names: Set<string>,
  { credentials, region, signingDate, expiresIn }: Signing,
): Promise<string | undefined> {
  const [path = '', ...rest] = request.url.split('?');
  const query = queryOf(rest.join('?'));
  if (!query || Object.keys(query).some((name) => name.toLowerCase() === 'x-amz-signature')) return undefined;
  const headers = Object.fromEntries(
    [...names].flatMap((name) =>
      [headerOf(request, name)].filter((value) => value !== undefined).map((value) => [name, value]),
    ),
  );
  // The body's hash belongs to the signed headers only if the request has it.
  const signer = new SignatureV4({ service: SERVICE, region, credentials, sha256: Sha256, applyChecksum: false });
  const unsigned = {
    method: request.method,
    protocol: 'http:',
    hostname: '',
    path,
    query,
    headers,
    body: request.body,
  };
  if (expiresIn !== undefined) {
    const presigned = await signer.presign(unsigned, {
      signingDate,
      expiresIn,
      signableHeaders: names,
      unhoistableHeaders: names,
    });
    return String(presigned.query?.['X-Amz-Signature']);
  }
  const signed = await signer.sign(unsigned, { signingDate, signableHeaders: names });
  return AUTHORIZATION.exec(signed.headers['authorization'] ?? '')?.groups?.['signature'];
}

/** Returns undefined for broken percent-encoding. */
function queryOf(text: string): Record<string, string[]> | undefined {
  const query = new Map<string, string[]>();
  try {
    for (const pair of text === '' ? [] : text.split('&')) {
      const [name = '', ...value] = pair.split('=');
      const key = decodeURIComponent(name);
      query.set(key, [...(query.get(key) ?? []), decodeURIComponent(value.join('='))]);
    }
  } catch {
    return undefined;
  }
  return Object.fromEntries(query);
}

function timeOf(date: string): number | undefined {
  const [, year, month, day, hours, minutes, seconds] = DATE.exec(date) ?? [];
  const time = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`);
  return Number.isNaN(time) ? undefined : time;
}

function headerOf({ headers }: ReceivedRequest, name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return Array.isArray(value) ? value.join(',') : value;
}
