import { createHash } from 'node:crypto';
import { rowKeyBytes, rowKeyOf } from './address.ts';

/** Returns the UUIDv5 (RFC 9562) of a name, in lower case: the first 16 bytes of SHA-1, with version and variant. */
export function uuidV5(namespace: string, name: string): string {
  const bytes = createHash('sha1').update(rowKeyBytes(namespace)).update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return rowKeyOf(bytes);
}
