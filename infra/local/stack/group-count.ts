import { existsSync, readFileSync } from 'node:fs';
import { hasGroups, keptGroups } from '../mysql/groups-file.ts';
import { writeFileAtomically } from '../folder/write-file-atomically.ts';
import type { DataFolder } from '../folder/data-folder.ts';

type Folder = Pick<DataFolder, 'root' | 'groupCount'>;

/**
 * How many groups a stack has: what was said, else those that its folder has the servers of, which are never fewer than
 * before. Where the first start was cut off, that may be some of them: then it is what that start was to make.
 *
 * @param atFirst of a new folder
 */
export function groupCount({ root, groupCount: file }: Folder, said: number | undefined, atFirst: number): number {
  if (said !== undefined) return said;
  if (!hasGroups(root)) return atFirst;
  const begun = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  return Math.max(begun, keptGroups(root).length);
}

/** Writes down what a first start is to make; does nothing at later ones. */
export function rememberGroupCount({ root, groupCount: file }: Folder, count: number): void {
  if (!hasGroups(root)) writeFileAtomically(file, String(count));
}
