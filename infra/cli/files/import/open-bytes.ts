import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { Gunzip } from 'node:zlib';
import { compressionOf, decompressor } from '../../../../shared/files/compression.ts';
import { FilesError } from '../../../../shared/files/files-error.ts';

export interface OpenBytes {
  readonly stream: AsyncIterable<Buffer>;
  readonly bytesRead: () => number;
  readonly textRead: () => number;
}

const PIECE_BYTES = 256 * 1024;

interface Opening {
  /** The first byte to be read, where nothing is compressed. @default 0 */
  readonly start?: number | undefined;
  /** Is given each piece of the file itself. */
  readonly seen?: ((piece: Buffer) => void) | undefined;
}

export function openFile(path: string, { start = 0, seen }: Opening = {}): OpenBytes {
  return decompress(createReadStream(path, { start, highWaterMark: PIECE_BYTES }), path, { start, seen });
}

export function decompress(input: Readable, name: string, { start = 0, seen }: Opening = {}): OpenBytes {
  let bytes = start;
  const transform = decompressor(compressionOf(name));
  input.on('data', (piece: Buffer) => {
    bytes += piece.length;
    seen?.(piece);
  });
  input.pause();
  if (!transform) return { stream: input, bytesRead: () => bytes, textRead: () => bytes };
  // Its errors are those of what is read of it: a pipe passes on none.
  input.on('error', (error) => transform.destroy(error));
  let text = 0;
  const stream = whole(input.pipe(transform), name, (piece) => (text += piece.length));
  // gzip knows which of them it has decompressed: all of a small file are read before the first of its text.
  const bytesRead = (): number => (transform instanceof Gunzip ? transform.bytesWritten : bytes);
  return { stream, bytesRead, textRead: () => text };
}

/** Tells each piece, and names the file that is damaged. */
async function* whole(
  stream: AsyncIterable<Buffer>,
  name: string,
  came: (piece: Buffer) => void,
): AsyncIterable<Buffer> {
  try {
    for await (const piece of stream) {
      came(piece);
      yield piece;
    }
  } catch (cause) {
    const got = cause instanceof Error ? cause.message : String(cause);
    throw new FilesError('bad_input', `${name}: wanted a whole file, packed as its name says, got: ${got}`, { cause });
  }
}
