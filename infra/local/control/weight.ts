import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { residentBytes } from '../platform/process-table.ts';

export interface Weight {
  readonly stackMemory: number;
  readonly serverMemory: number;
  /** What the data folder's files take. */
  readonly disk: number;
}

const BLOCK_BYTES = 512;

export function weightOf({
  own,
  servers,
  folder,
}: {
  readonly own: readonly number[];
  readonly servers: readonly number[];
  readonly folder: string;
}): Weight {
  const memory = (pids: readonly number[]): number =>
    [...new Set(pids)].reduce((sum, pid) => sum + residentBytes(pid), 0);
  return { stackMemory: memory(own), serverMemory: memory(servers), disk: bytesBelow(folder) };
}

/** Files that go meanwhile are left out. */
function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce((sum, name) => {
    const found = statSync(join(folder, name), { throwIfNoEntry: false });
    return sum + (found?.isFile() ? found.blocks * BLOCK_BYTES : 0);
  }, 0);
}
