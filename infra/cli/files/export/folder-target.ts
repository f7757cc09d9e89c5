import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { FilesError } from '../../../../shared/files/files-error.ts';
import type { ExportTarget } from '../../../../shared/files/target.ts';
import { makeFolder, OWN_FILE, renameDurably, writeDurably } from '../write-durably.ts';

/** Returns a folder as a target, created with the first file. */
export function folderTarget(folder: string): ExportTarget {
  const at = (path: string): string => join(folder, path);
  const make = async (path: string): Promise<string> => {
    await makeFolder(dirname(path));
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

const LOCK = '_lock.json';
const RENEW_MS = 10_000;
/** The age at which a lock of a process on another machine expires. */
const GONE_MS = 60_000;

interface Holder {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
  readonly since: string;
}

/** The locks of this process. A lock with its process id that is not here is of an earlier process. */
const held = new Set<string>();

/** Locks a folder, and returns its release. Replaces the lock of a killed process. Throws `busy_export`. */
async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, LOCK);
  await makeFolder(folder);
  const holder = { id: randomUUID(), pid: process.pid, host: hostname(), since: new Date().toISOString() };
  held.add(holder.id);
  try {
    if (!(await made(path, holder))) {
      const other = await read(path);
      if (other && !(await isGone(other, path))) throw busy(folder, other);
      await rm(path, { force: true });
      if (!(await made(path, holder))) throw busy(folder, await read(path));
    }
  } catch (error) {
    held.delete(holder.id);
    throw error;
  }
  const renewal = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => undefined), RENEW_MS);
  return async () => {
    clearInterval(renewal);
    held.delete(holder.id);
    if ((await read(path))?.id === holder.id) await rm(path, { force: true });
  };
}

async function made(path: string, holder: Holder): Promise<boolean> {
  try {
    const file = await open(path, 'wx', OWN_FILE);
    await file.writeFile(JSON.stringify(holder)).finally(() => file.close());
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Returns undefined for a deleted lock. Treats an incomplete one as the lock of a live process. */
async function read(path: string): Promise<Holder | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Holder;
  } catch {
    return { id: '', pid: 0, host: '', since: '' };
  }
}

async function isGone({ id, pid, host }: Holder, path: string): Promise<boolean> {
  if (host === hostname()) return pid === process.pid ? !held.has(id) : !isAlive(pid);
  const status = await stat(path).catch(() => undefined);
  return status === undefined || Date.now() - status.mtimeMs > GONE_MS;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function busy(folder: string, other: Holder | undefined): FilesError {
  const who = other ? `process ${other.pid} of ${other.host} since ${other.since}` : 'another process';
  return new FilesError(
    'busy_export',
    `to: wanted a folder that no other export writes to, got ${folder}, held by ${who}. Repeat it once that has ended; if there is no such process, remove ${LOCK}`,
  );
}
