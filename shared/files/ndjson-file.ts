import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { PassThrough, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringifyJson } from '../body/json.ts';
import type { Cell } from '../cell.ts';
import { compressor, type Compression } from './compression.ts';
import { syncFile, type CellFile } from './cell-file.ts';

export function ndjsonFile(path: string, compression: Compression): CellFile {
  const sum = createHash('sha256');
  let [bytes, textBytes] = [0, 0];
  const counted = new Transform({
    transform(piece: Buffer, _encoding, done) {
      sum.update(piece);
      bytes += piece.length;
      done(null, piece);
    },
  });
  const input = compressor(compression) ?? new PassThrough();
  const written = pipeline(input, counted, createWriteStream(path));
  // `write` and `finish` report the error.
  written.catch(() => undefined);
  return {
    get textBytes() {
      return textBytes;
    },
    async write(cells) {
      if (cells.length === 0) return;
      const text = cells.map((cell) => `${lineOf(cell)}\n`).join('');
      textBytes += text.length;
      if (!input.write(text)) await Promise.race([once(input, 'drain'), written]);
    },
    async finish() {
      input.end();
      await written;
      await syncFile(path);
      return { bytes, sha256: sum.digest('hex') };
    },
    async discard() {
      input.destroy();
      await written.catch(() => undefined);
    },
  };
}

/** Returns a cell's line. For an erasure, or an erased or undecodable body, it says so and the body is null. */
function lineOf(cell: Cell): string {
  const { row_key, column_name, ref_key, body, added_id, created_at } = cell;
  const { transaction, erased, body_sha256, erasure, error } = cell;
  const members = { row_key, column_name, ref_key, body, added_id, created_at };
  return stringifyJson({ ...members, transaction, erased, body_sha256, erasure, error: error?.code });
}
