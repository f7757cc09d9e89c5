/**
 * Replaces `iconv-lite`, half a megabyte, in the bundles. `mysql2` uses it for character sets unknown to Node.
 * Connections are UTF-8, and servers use three-byte UTF-8 for their own names. `mysql2` takes that for CESU-8, which
 * differs beyond three bytes only.
 */

export function getDecoder(encoding: string): { write(bytes: Buffer): string; end(): undefined } {
  check(encoding);
  return { write: (bytes) => bytes.toString('utf8'), end: () => undefined };
}

export function getEncoder(encoding: string): { write(text: string): Buffer; end(): undefined } {
  check(encoding);
  return { write: (text) => Buffer.from(text, 'utf8'), end: () => undefined };
}

function check(encoding: string): void {
  if (encoding !== 'cesu8') throw new Error(`text from MySQL: wanted UTF-8, got ${encoding}`);
}
