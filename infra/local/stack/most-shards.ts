import { existsSync, readFileSync } from 'node:fs';
import { writeFileAtomically } from '../folder/write-file-atomically.ts';
import type { DataFolder } from '../folder/data-folder.ts';

type Folder = Pick<DataFolder, 'mostShards'>;

/** Returns the most shards of a datastore: the given number, else that of the last start. */
export function mostShards(folder: Folder, said: number | undefined, atFirst: number): number {
  if (said !== undefined) return said;
  return existsSync(folder.mostShards) ? Number(readFileSync(folder.mostShards, 'utf8')) : atFirst;
}

export function rememberMostShards(folder: Folder, count: number): void {
  writeFileAtomically(folder.mostShards, String(count));
}
