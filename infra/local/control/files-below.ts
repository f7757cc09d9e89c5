import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

interface Room {
  readonly taken: number;
  /** File sizes, with holes. */
  readonly apparent: number;
}

const BLOCK_BYTES = 512;

/** Sums by kind of file, the largest first: numbers within names do not separate kinds. Omits files that are deleted during the call. */
export function filesBelow(folder: string) {
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
