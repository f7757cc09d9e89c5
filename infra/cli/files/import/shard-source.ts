import { statSync } from 'node:fs';
import { ndjsonSource } from './ndjson-source.ts';
import { openFile, type OpenBytes } from './open-bytes.ts';
import type { CellSource } from './source.ts';

/** The log of a shard as an export's parts have it, one file after the other. */
export function shardSource(shard: number, paths: readonly string[]): CellSource {
  return ndjsonSource({
    name: `shard ${shard}`,
    size: paths.reduce((sum, path) => sum + statSync(path).size, 0),
    open: () => openInOrder(paths),
  });
}

function openInOrder(paths: readonly string[]): OpenBytes {
  let before = 0;
  let current = (): number => 0;
  async function* pieces(): AsyncGenerator<Buffer> {
    for (const path of paths) {
      const opened = openFile(path, 0);
      current = opened.bytesRead;
      yield* opened.stream;
      before += current();
      current = () => 0;
    }
  }
  return { stream: pieces(), bytesRead: () => before + current() };
}
