import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** For their owner alone, since they hold bodies of cells. */
export const OWN_FILE = 0o600;
export const OWN_FOLDER = 0o700;

/** Writes a file so that after a crash, of the machine too, it holds either the old text or the new. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const next = `${path}.next`;
  const file = await open(next, 'w', OWN_FILE);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await renameDurably(next, path);
}

/** Gives a file, whose bytes are on disk, its name for good. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  // Windows opens no folders, and has nothing to be synchronized of them.
  if (process.platform === 'win32') return;
  const folder = await open(dirname(to), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
