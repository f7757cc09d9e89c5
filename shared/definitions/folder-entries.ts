import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What lies in a folder of definitions. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder';
}

/**
 * Sorted, so that the same files always give the same definitions; links are what they lead to. Without what editors
 * and file managers hide there, and notes for people (`*.md`).
 */
export function entriesOf(folder: string): readonly FolderEntry[] {
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.') && !name.endsWith('.md'))
    .sort()
    .map((name) => ({ name, kind: isFolder(join(folder, name)) ? 'folder' : 'file' }));
}

/** False also where there is nothing. */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
