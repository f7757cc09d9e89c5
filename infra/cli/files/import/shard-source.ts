import { createHash } from 'node:crypto';
import type { CellSource } from './source.ts';
import { ndjsonSource } from './ndjson-source.ts';
import { openFile, type OpenBytes } from './open-bytes.ts';

/** A file as the manifest of its part says it. */
export interface ShardFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The log of a shard as an export's parts have it, one file after the other. */
export function shardSource(shard: number, files: readonly ShardFile[], areTimesKept: boolean): CellSource {
  const faults: string[] = [];
  return {
    ...ndjsonSource({
      name: `shard ${shard}`,
      size: files.reduce((sum, { bytes }) => sum + bytes, 0),
      open: () => openInOrder(files, faults),
      areTimesKept,
    }),
    faults: () => faults,
  };
}

function openInOrder(files: readonly ShardFile[], faults: string[]): OpenBytes {
  let before = 0;
  let current = (): number => 0;
  async function* pieces(): AsyncGenerator<Buffer> {
    for (const { path, sha256 } of files) {
      const sum = createHash('sha256');
      const opened = openFile(path, { seen: (piece) => sum.update(piece) });
      current = opened.bytesRead;
      yield* opened.stream;
      before += current();
      current = () => 0;
      const got = sum.digest('hex');
      if (got !== sha256) faults.push(`${path}: wanted the SHA-256 ${sha256}, got ${got}`);
    }
  }
  return { stream: pieces(), bytesRead: () => before + current() };
}
