import { hasGroups, keptGroups } from '../mysql/groups-file.ts';
import type { DataFolder } from '../folder/data-folder.ts';
import { readNumber, writeNumber } from '../folder/state-file.ts';

type Folder = Pick<DataFolder, 'root' | 'groupCount'>;

/** Returns the groups: given, or the folder's, or those of an interrupted first start. */
export function groupCount({ root, groupCount: file }: Folder, requested: number | undefined, atFirst: number): number {
  if (requested !== undefined) return requested;
  if (!hasGroups(root)) return atFirst;
  return Math.max(readNumber(file) ?? 0, keptGroups(root).length);
}

/** Does nothing after the first start. */
export function rememberGroupCount({ root, groupCount: file }: Folder, count: number): void {
  if (!hasGroups(root)) writeNumber(file, count);
}
