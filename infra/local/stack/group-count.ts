import { existsSync, readFileSync } from 'node:fs';
import { hasGroups, keptGroups } from '../mysql/groups-file.ts';
import { writeFileAtomically } from '../folder/write-file-atomically.ts';
import type { DataFolder } from '../folder/data-folder.ts';

type Folder = Pick<DataFolder, 'root' | 'groupCount'>;

/**
 * Returns the number of groups: the given one, else those of the folder. After an interrupted first start, the number
 * that it was to make.
 */
export function groupCount({ root, groupCount: file }: Folder, said: number | undefined, atFirst: number): number {
  if (said !== undefined) return said;
  if (!hasGroups(root)) return atFirst;
  const begun = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  return Math.max(begun, keptGroups(root).length);
}

/** Does nothing after the first start. */
export function rememberGroupCount({ root, groupCount: file }: Folder, count: number): void {
  if (!hasGroups(root)) writeFileAtomically(file, String(count));
}
