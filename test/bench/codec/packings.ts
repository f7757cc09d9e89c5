import {
  constants,
  deflateRawSync,
  deflateSync,
  inflateRawSync,
  inflateSync,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib';

/** How bytes are made fewer. */
export interface Packing {
  readonly name: string;
  pack(plain: Uint8Array): Uint8Array;
  unpack(packed: Uint8Array): Uint8Array;
}

/** Only kept: what was written is copied, since the next value is written to the same place. */
export const PLAIN: Packing = { name: '', pack: (plain) => plain.slice(), unpack: (packed) => packed };

export const RAW_DEFLATE: Packing = {
  name: 'raw deflate 6',
  pack: (plain) => deflateRawSync(plain),
  unpack: (packed) => inflateRawSync(packed),
};

/** @param dictionary what bodies have in common; both sides need the same @default none */
export function zlibPacking(level: number, dictionary?: Buffer): Packing {
  const shared = dictionary && { dictionary };
  const options = { level, ...shared };
  return {
    name: `zlib ${level}${dictionary ? ', dictionary' : ''}`,
    pack: (plain) => deflateSync(plain, options),
    unpack: (packed) => inflateSync(packed, shared),
  };
}

/** @param dictionary as `zlibPacking` has it */
export function zstdPacking(level: number, dictionary?: Buffer): Packing {
  const shared = dictionary && { dictionary };
  const options = { params: { [constants.ZSTD_c_compressionLevel]: level }, ...shared };
  return {
    name: `zstd ${level}${dictionary ? ', dictionary' : ''}`,
    pack: (plain) => zstdCompressSync(plain, options),
    unpack: (packed) => zstdDecompressSync(packed, shared),
  };
}
