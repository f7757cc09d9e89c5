import { residentBytes } from '../platform/process-table.ts';
import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

export interface Weight {
  readonly stackMemory: number;
  readonly serverMemory: number;
  /** What the data folder's files take. */
  readonly disk: number;
}

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
  return { stackMemory: memory(own), serverMemory: memory(servers), disk: filesBelow(folder).disk.taken };
}

export interface FilesBelow {
  readonly disk: Room;
  /** By kind of file: numbers within names do not tell kinds apart. Largest first. */
  readonly files: readonly (Room & { readonly kind: string; readonly count: number })[];
}

interface Room {
  readonly taken: number;
  /** File sizes, with holes. */
  readonly apparent: number;
}

const BLOCK_BYTES = 512;

/** Files that go meanwhile are left out. */
export function filesBelow(folder: string): FilesBelow {
  const kinds = new Map<string, Room & { readonly count: number }>();
  const disk = { taken: 0, apparent: 0 };
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const found = statSync(join(folder, name), { throwIfNoEntry: false });
    if (!found?.isFile()) continue;
    const kind = basename(name).replaceAll(/\d+/gu, 'N').replace(/#.*/u, '#…');
    const { taken, apparent, count } = kinds.get(kind) ?? { taken: 0, apparent: 0, count: 0 };
    const bytes = found.blocks * BLOCK_BYTES;
    kinds.set(kind, { taken: taken + bytes, apparent: apparent + found.size, count: count + 1 });
    disk.taken += bytes;
    disk.apparent += found.size;
  }
  const files = [...kinds].map(([kind, room]) => ({ kind, ...room })).toSorted((one, other) => other.taken - one.taken);
  return { disk, files };
}
