/**
 * In place of `iconv-lite`, half a megabyte of character sets, in the bundles of the functions. mysql2 asks it for
 * texts in those that Node does not know by itself; the store's connections are UTF-8, beside which servers use only
 * their older UTF-8 of three bytes, for names of their own. mysql2 takes that for CESU-8, which differs in characters
 * that three bytes cannot hold.
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
