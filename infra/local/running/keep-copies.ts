import { existsSync, readFileSync } from 'node:fs';
import { writeFileAtomically } from '../folder/write-file-atomically.ts';
import type { DataFolder } from '../folder/data-folder.ts';

/**
 * Minutes that copies are kept: what was said, which is written down, else what held at the last start on this folder: a
 * group that is set back later gets back what was kept until then.
 */
export function keepCopies({ keepCopies: file }: Pick<DataFolder, 'keepCopies'>, said: number | undefined): number {
  return said ?? (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0);
}

export function rememberKeepCopies({ keepCopies: file }: Pick<DataFolder, 'keepCopies'>, minutes: number): void {
  writeFileAtomically(file, String(minutes));
}
