import { createHash } from 'node:crypto';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const AUTHORIZATION = /Credential=([^/,\s]+)\//u;

/**
 * The access key of a function, by its name: what it signs with says who it is. The same at each start. What starts
 * functions signs nothing here, and has one all the same, by which its rights are found.
 */
export function accessKeyOf(functionName: string): string {
  const digest = createHash('sha256').update(functionName).digest();
  return `ASIA${Array.from(digest.subarray(0, 16), (byte) => LETTERS.charAt(byte % LETTERS.length)).join('')}`;
}

/** That of a request that was signed; undefined where it was not. */
export function accessKeyIn(authorization: string | undefined): string | undefined {
  return AUTHORIZATION.exec(authorization ?? '')?.[1];
}

/** The same where the signature may be in the query: a presigned request. A header goes before it. */
export function accessKeyOfRequest(authorization: string | undefined, url: string): string | undefined {
  if (authorization !== undefined || !url.includes('X-Amz-')) return accessKeyIn(authorization);
  return new URLSearchParams(url.split('?').slice(1).join('?')).get('X-Amz-Credential')?.split('/', 1)[0];
}
