import { createHash } from 'node:crypto';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const AUTHORIZATION = /Credential=([^/,\s]+)\//u;

/** Returns a function's access key, by which its rights are found; the same at each start. Schedules have one too. */
export function accessKeyOf(functionName: string): string {
  const digest = createHash('sha256').update(functionName).digest();
  return `ASIA${Array.from(digest.subarray(0, 16), (byte) => LETTERS.charAt(byte % LETTERS.length)).join('')}`;
}

/** Returns the key of a signed request. */
export function accessKeyIn(authorization: string | undefined): string | undefined {
  return AUTHORIZATION.exec(authorization ?? '')?.[1];
}

/** Accepts a presigned request as well; a header takes precedence. */
export function accessKeyOfRequest(authorization: string | undefined, url: string): string | undefined {
  if (authorization !== undefined || !url.includes('X-Amz-')) return accessKeyIn(authorization);
  return new URLSearchParams(url.split('?').slice(1).join('?')).get('X-Amz-Credential')?.split('/', 1)[0];
}
