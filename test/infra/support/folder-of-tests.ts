import { afterAll } from 'vitest';
import { temporaryFolder } from './temporary-folder.ts';

/** A new folder for the tests of a file, which goes after everything that is begun later. */
export function folderOfTests(): { readonly path: string } {
  const folder = temporaryFolder();
  afterAll(() => folder[Symbol.dispose]());
  return folder;
}
