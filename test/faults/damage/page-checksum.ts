import type { EngineKind } from '../../../infra/setup/engine.mjs';

export const PAGE_BYTES = 16_384;

/** Castagnoli's polynomial, bits reversed. */
const POLYNOMIAL = 0x82f63b78;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  return value;
});

function crc32c(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = (value >>> 8) ^ (table[(value ^ byte) & 0xff] ?? 0);
  return ~value >>> 0;
}

/** Whether the checksum that a page carries is that of its bytes. */
export function hasItsChecksum(engine: EngineKind, page: Buffer): boolean {
  const before = Buffer.from(page);
  fitChecksum(engine, before);
  return before.equals(page);
}

/** Writes the checksum of a page's bytes into the page, as the engine does before it writes the page to the disk. */
export function fitChecksum(engine: EngineKind, page: Buffer): void {
  if (engine === 'mariadb') {
    // All of it, behind it.
    page.writeUInt32BE(crc32c(page.subarray(0, PAGE_BYTES - 4)), PAGE_BYTES - 4);
    return;
  }
  // Without the checksum itself, what only the first page of a file uses, and the trailer; before and behind it.
  const checksum = (crc32c(page.subarray(4, 26)) ^ crc32c(page.subarray(38, PAGE_BYTES - 8))) >>> 0;
  page.writeUInt32BE(checksum, 0);
  page.writeUInt32BE(checksum, PAGE_BYTES - 8);
}
