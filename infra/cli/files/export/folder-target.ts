import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OWN_FILE, OWN_FOLDER, renameDurably, writeDurably } from '../write-durably.ts';
import { lockFolder } from './folder-lock.ts';
import type { ExportTarget } from '../../../../shared/files/target.ts';

/** A folder, made with the first file. */
export function folderTarget(folder: string): ExportTarget {
  const at = (path: string): string => join(folder, path);
  const make = async (path: string): Promise<string> => {
    await mkdir(dirname(path), { recursive: true, mode: OWN_FOLDER });
    return path;
  };
  return {
    name: folder,
    folders: async () =>
      (await orIfMissing(readdir(folder, { withFileTypes: true }), []))
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name),
    readText: (path) => orIfMissing(readFile(at(path), 'utf8'), undefined),
    writeText: async (path, text) => writeDurably(await make(at(path)), text),
    async scratch(path) {
      const made = await make(at(path.replace(/[^/]*$/u, (name) => `${UNFINISHED}${randomUUID()}-${name}`)));
      await writeFile(made, '', { mode: OWN_FILE });
      return made;
    },
    store: (scratch, path) => renameDurably(scratch, at(path)),
    open: async (path) => createReadStream(at(path)),
    remove: (path) => rm(at(path), { force: true }),
    async lock() {
      const release = await lockFolder(folder);
      await removeUnfinished(folder);
      return release;
    },
    close: async () => undefined,
  };
}

const UNFINISHED = '_unfinished-';

async function removeUnfinished(folder: string): Promise<void> {
  const last = (await readdir(folder))
    .filter((name) => name.startsWith('part-'))
    .toSorted()
    .at(-1);
  if (last === undefined) return;
  for (const name of await readdir(join(folder, last)))
    if (name.startsWith(UNFINISHED)) await rm(join(folder, last, name), { force: true });
}

async function orIfMissing<Found, Missing>(found: Promise<Found>, missing: Missing): Promise<Found | Missing> {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return missing;
    throw error;
  }
}
