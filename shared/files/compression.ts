import { Duplex, type Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import type { ZstdDecompress } from 'node:zlib';
import { FilesError } from './files-error.ts';
import { once } from 'node:events';

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

/** Decompresses consecutive zstd frames, as pzstd writes them; Node's own stream drops all but the first. */
function zstdFrames(open: () => ZstdDecompress): Duplex {
  return Duplex.from(async function* frames(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let frame: ZstdDecompress | undefined;
    try {
      for await (const piece of source) {
        for (let left = piece; left.length > 0;) {
          frame ??= open();
          const before = frame.bytesWritten;
          yield* outputOf(frame, (done) => frame?.write(left, done));
          left = left.subarray(frame.bytesWritten - before);
          // With something left it has come to the end of its frame.
          if (left.length > 0) frame = undefined;
        }
      }
      // A frame that was cut is an error now.
      if (frame) yield* outputOf(frame, () => frame?.end());
    } finally {
      frame?.destroy();
    }
  });
}

/** Yields output until the given work is done or the frame has ended, no faster than it is consumed. */
async function* outputOf(
  frame: ZstdDecompress,
  work: (done: (error?: Error | null) => void) => void,
): AsyncGenerator<Buffer> {
  let isDone = false;
  let failed: Error | undefined;
  const changed = new EventTarget();
  const ring = (): void => void changed.dispatchEvent(new Event('change'));
  const fail = (error: Error): void => {
    failed = error;
    ring();
  };
  frame.on('readable', ring).on('end', ring).on('error', fail);
  work((error) => {
    failed ??= error ?? undefined;
    isDone = true;
    ring();
  });
  try {
    for (;;) {
      const piece = frame.read() as Buffer | null;
      if (failed) throw failed;
      if (piece) yield piece;
      else if (isDone || frame.readableEnded) return;
      else await once(changed, 'change');
    }
  } finally {
    frame.off('readable', ring).off('end', ring).off('error', fail);
  }
}
