import { existsSync, readFileSync } from 'node:fs';
import { writeFileAtomically } from '../folder/write-file-atomically.ts';
import type { DataFolder } from '../folder/data-folder.ts';

type Folder = Pick<DataFolder, 'mostShards'>;

/**
 * The most shards that a datastore gets: what was said, else what held at the last start on this folder. A datastore
 * keeps the number that it was created with, so that nobody has to say it again.
 *
 * @param atFirst of a new folder
 */
export function mostShards(folder: Folder, said: number | undefined, atFirst: number): number {
  if (said !== undefined) return said;
  return existsSync(folder.mostShards) ? Number(readFileSync(folder.mostShards, 'utf8')) : atFirst;
}

export function rememberMostShards(folder: Folder, count: number): void {
  writeFileAtomically(folder.mostShards, String(count));
}
