import { mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The permissions of files with bodies of cells: their owner only. */
export const OWN_FILE = 0o600;
const OWN_FOLDER = 0o700;

/** Makes a folder and those above it. Below /proc, mkdir with `recursive` would never end. */
export async function makeFolder(folder: string): Promise<void> {
  if (!(await isFolder(dirname(folder)))) await makeFolder(dirname(folder));
  await mkdir(folder, { mode: OWN_FOLDER }).catch(async (error: unknown) => {
    if (!(await isFolder(folder))) throw error;
  });
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Writes a file so that after a crash, even of the machine, it has either the old text or the new. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const next = `${path}.${process.pid}.next`;
  const file = await open(next, 'w', OWN_FILE);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await renameDurably(next, path);
}

/** Renames a file whose bytes are on disk, durably. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  // Windows opens no folders, and needs no sync of them.
  if (process.platform === 'win32') return;
  const folder = await open(dirname(to), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
