import { existsSync, readFileSync } from 'node:fs';
import { writeFileAtomically } from '../folder/write-file-atomically.ts';
import type { DataFolder } from '../folder/data-folder.ts';

/** Returns the minutes that copies are kept: the given number, else that of the last start. */
export function keepCopies({ keepCopies: file }: Pick<DataFolder, 'keepCopies'>, said: number | undefined): number {
  return said ?? (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0);
}

export function rememberKeepCopies({ keepCopies: file }: Pick<DataFolder, 'keepCopies'>, minutes: number): void {
  writeFileAtomically(file, String(minutes));
}
