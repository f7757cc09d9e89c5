import type { Duplex, Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { FilesError } from './files-error.ts';
import { zstdFrames } from './zstd-frames.ts';

export type Compression = 'none' | 'gzip' | 'zstd';

export const ENDING: Readonly<Record<Compression, string>> = { none: '', gzip: '.gz', zstd: '.zst' };

export function compressionOf(name: string): Compression {
  if (/\.gz$/iu.test(name)) return 'gzip';
  return /\.zstd?$/iu.test(name) ? 'zstd' : 'none';
}

export function bareName(name: string): string {
  return name.replace(/\.(gz|zstd?)$/iu, '');
}

/** Node has zstd from 22.15 and 23.8 on; its types know it always. */
const { createZstdCompress, createZstdDecompress } = zlib as Partial<typeof zlib>;

export const HAS_ZSTD = createZstdCompress !== undefined;

/** Undefined where nothing is to be done. Throws `zstd_missing` where this Node cannot. */
export function decompressor(compression: Compression): Duplex | undefined {
  if (compression === 'none') return undefined;
  if (compression === 'gzip') return zlib.createGunzip();
  return zstdFrames(requireZstd(createZstdDecompress));
}

/** Undefined where nothing is to be done. Throws `zstd_missing` where this Node cannot. */
export function compressor(compression: Compression): Transform | undefined {
  if (compression === 'none') return undefined;
  // Level 1 takes a third of the time of 6, and gives files larger by a tenth.
  if (compression === 'gzip') return zlib.createGzip({ level: 1 });
  return requireZstd(createZstdCompress)();
}

export function requireZstd<Made>(made: Made | undefined): Made {
  if (made !== undefined) return made;
  throw new FilesError(
    'zstd_missing',
    `compression: wanted Node 22.15 or newer for zstd, got ${process.versions.node}; use gzip, or a newer Node`,
  );
}
