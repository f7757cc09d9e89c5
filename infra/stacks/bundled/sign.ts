import { createHash, createHmac } from 'node:crypto';
import type { Credentials } from './lambda-credentials.ts';

/** Signs requests to a service with Signature Version 4. */
interface Signing {
  readonly service: string;
  readonly region: string;
  readonly credentials: () => Promise<Credentials>;
  readonly at?: Date;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const EMPTY = sha256('');

/** Returns the headers of a POST to a service's path `/`, with those that sign it. */
export async function signedHeaders(
  { service, region, credentials, at = new Date() }: Signing,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<Readonly<Record<string, string>>> {
  const { accessKeyId, secretAccessKey, sessionToken } = await credentials();
  const time = timeOf(at);
  const signed: Record<string, string> = {
    ...headers,
    'x-amz-date': time,
    ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
  };
  const names = Object.keys(signed).sort();
  const lines = names.map((name) => `${name}:${signed[name]}\n`).join('');
  const canonical = `POST\n/\n\n${lines}\n${names.join(';')}\n${sha256(body)}`;
  const scope = scopeOf(time, region, service);
  const signature = signatureOf(canonical, { time, scope, secretAccessKey });
  signed['authorization'] =
    `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return signed;
}

interface SignedConnection {
  /** With the port. */
  readonly host: string;
  readonly query: Readonly<Record<string, string>>;
  readonly seconds: number;
}

/** Returns the address of a GET of a service's path `/` that is signed for a time, without the protocol. */
export async function presignedAddress(
  { service, region, credentials, at = new Date() }: Signing,
  { host, query, seconds }: SignedConnection,
): Promise<string> {
  const { accessKeyId, secretAccessKey, sessionToken } = await credentials();
  const time = timeOf(at);
  const scope = scopeOf(time, region, service);
  const members = {
    ...query,
    ...(sessionToken !== undefined && { 'X-Amz-Security-Token': sessionToken }),
    'X-Amz-Algorithm': ALGORITHM,
    'X-Amz-Credential': `${accessKeyId}/${scope}`,
    'X-Amz-Date': time,
    'X-Amz-Expires': String(seconds),
    'X-Amz-SignedHeaders': 'host',
  };
  const text = Object.entries(members)
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .sort()
    .join('&');
  const signature = signatureOf(`GET\n/\n${text}\nhost:${host}\n\nhost\n${EMPTY}`, { time, scope, secretAccessKey });
  return `${host}/?${text}&X-Amz-Signature=${signature}`;
}

/** `20261130T131500Z` */
function timeOf(at: Date): string {
  return at.toISOString().replaceAll(/[-:]|\.\d{3}/gu, '');
}

function scopeOf(time: string, region: string, service: string): string {
  return `${time.slice(0, 8)}/${region}/${service}/aws4_request`;
}

interface SignedWith {
  readonly time: string;
  readonly scope: string;
  readonly secretAccessKey: string;
}

/** A key holds for a day, region and service. */
const keys: { of: string; key: Buffer } = { of: '', key: Buffer.alloc(0) };

function signatureOf(canonical: string, { time, scope, secretAccessKey }: SignedWith): string {
  const of = `${secretAccessKey}\n${scope}`;
  if (keys.of !== of) {
    const parts = scope.split('/');
    keys.key = parts.reduce((key: Buffer | string, part) => hmac(key, part), `AWS4${secretAccessKey}`) as Buffer;
    keys.of = of;
  }
  return hmac(keys.key, `${ALGORITHM}\n${time}\n${scope}\n${sha256(canonical)}`).toString('hex');
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function escaped(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/gu, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
