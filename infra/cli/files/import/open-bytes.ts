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
  /** The first byte to read of an uncompressed file. @default 0 */
  readonly start?: number | undefined;
  /** Receives each piece of the file, before decompression. */
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
  // Passes on the errors of the input, which a pipe does not.
  input.on('error', (error) => transform.destroy(error));
  let text = 0;
  const stream = whole(input.pipe(transform), name, (piece) => (text += piece.length));
  // gzip counts the decompressed bytes: a small file is read whole before its first text.
  const bytesRead = (): number => (transform instanceof Gunzip ? transform.bytesWritten : bytes);
  return { stream, bytesRead, textRead: () => text };
}

/** Passes on each piece, and throws an error that names a damaged file. */
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

/** Returns the encoding of bytes that begin with a byte order mark of UTF-16. */
function utf16Of(bytes: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const mark = bytes.length < 2 ? 0 : bytes.readUInt16BE();
  return mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : undefined;
}

export async function isUtf16(path: string): Promise<boolean> {
  for await (const piece of openFile(path).stream) return utf16Of(piece) !== undefined;
  return false;
}

/** Returns UTF-16 with a byte order mark as UTF-8, and other bytes as they are. Throws `bad_input` for half characters. */
export function inUtf8(opened: OpenBytes, name: string): OpenBytes {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let text = 0;
  const decode = (piece?: Buffer): Buffer => {
    try {
      const bytes = Buffer.from(decoder?.decode(piece, { stream: piece !== undefined }) ?? '');
      text += bytes.length;
      return bytes;
    } catch (cause) {
      throw new FilesError('bad_input', `${name}: wanted UTF-16, as its first bytes say, got something else`, {
        cause,
      });
    }
  };
  async function* pieces(): AsyncIterable<Buffer> {
    let mark: Buffer | undefined = Buffer.alloc(0);
    for await (const piece of opened.stream) {
      const bytes: Buffer = mark ? Buffer.concat([mark, piece]) : piece;
      const encoding = mark && utf16Of(bytes);
      if (encoding) decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
      mark = mark && bytes.length < 2 ? bytes : undefined;
      if (!mark) yield decoder ? decode(bytes) : bytes;
    }
    if (mark || decoder) yield mark ?? decode();
  }
  return { ...opened, stream: pieces(), textRead: () => (decoder ? text : opened.textRead()) };
}
