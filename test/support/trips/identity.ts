import { hash } from 'node:crypto';

/** The namespace of all ids made here; any fixed UUID does. */
const NAMESPACE = Buffer.from('5b0c3f0ae1f14b7c9a6d2f4e8c7d1a90', 'hex');

/** The UUID (version 5: a SHA-1 of namespace and name) of a generated thing, "driver/17". Lower case. */
export function identity(name: string): string {
  const digest = hash('sha1', Buffer.concat([NAMESPACE, Buffer.from(name)]), 'hex');
  const variant = ((Number.parseInt(digest.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-${variant}${digest.slice(18, 20)}-${digest.slice(20, 32)}`;
}
