import { createHash } from 'node:crypto';
import type { CellSource } from './source.ts';
import { ndjsonSource } from './ndjson-source.ts';
import { openFile, type OpenBytes } from './open-bytes.ts';

export interface ShardFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

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
  const before = { bytes: 0, text: 0 };
  let current: OpenBytes | undefined;
  async function* pieces(): AsyncGenerator<Buffer> {
    for (const { path, sha256 } of files) {
      const sum = createHash('sha256');
      current = openFile(path, { seen: (piece) => sum.update(piece) });
      yield* current.stream;
      before.bytes += current.bytesRead();
      before.text += current.textRead();
      current = undefined;
      const got = sum.digest('hex');
      if (got !== sha256) faults.push(`${path}: wanted the SHA-256 ${sha256}, got ${got}`);
    }
  }
  return {
    stream: pieces(),
    bytesRead: () => before.bytes + (current?.bytesRead() ?? 0),
    textRead: () => before.text + (current?.textRead() ?? 0),
  };
}
