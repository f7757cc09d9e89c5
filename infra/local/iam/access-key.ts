import { createHash } from 'node:crypto';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const AUTHORIZATION = /Credential=([^/,\s]+)\//u;

/** The access key of a function, by its name: what it signs with says who it is. The same at each start. */
export function accessKeyOf(functionName: string): string {
  const digest = createHash('sha256').update(functionName).digest();
  return `ASIA${Array.from(digest.subarray(0, 16), (byte) => LETTERS.charAt(byte % LETTERS.length)).join('')}`;
}

/** That of a request that was signed; undefined where it was not. */
export function accessKeyIn(authorization: string | undefined): string | undefined {
  return AUTHORIZATION.exec(authorization ?? '')?.[1];
}
