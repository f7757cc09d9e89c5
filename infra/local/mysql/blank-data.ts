import { execFile } from 'node:child_process';
import { constants, existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm, open, readdir, type FileHandle } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, type InstalledEngine } from '../../setup/engine.mjs';
import { REDO_SETTINGS, asRoot } from './server-settings.ts';
import type { ServerSize } from './node-status.ts';

const run = promisify(execFile);

/** Returns an empty data folder of this engine version, made once in the cache: copying is faster than making one. */
export async function blankData(engine: InstalledEngine, log: (line: string) => void): Promise<string> {
  const folder = join(cacheFolder(), 'blank-data', `${engine.kind}-${engine.version}`);
  if (existsSync(folder)) return folder;
  log(`Making an empty ${engine.kind} ${engine.version} data folder in ${folder}, to be copied for each server.`);
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  const work = await mkdtemp(`${folder}-making-`);
  const data = join(work, 'data');
  try {
    await initialise(engine, data);
    // The server's identity: each copy makes its own.
    await rm(join(data, 'auto.cnf'), { force: true });
    await rename(data, folder);
  } catch (error) {
    // Another process may have made it first.
    if (!existsSync(folder))
      throw new Error(`${engine.kind} ${engine.version} could not make a data folder: ${reason(error)}`, {
        cause: error,
      });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return folder;
}

/** Copies the blank folder; `to` is complete or absent. Files of small servers grow as they fill. */
export async function copyBlankData(blank: string, to: string, size: ServerSize): Promise<void> {
  const copying = `${to}.copying`;
  await rm(copying, { recursive: true, force: true });
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  if (size === 'full') await cp(blank, copying, { recursive: true, mode: constants.COPYFILE_FICLONE });
  else await copySparsely(blank, copying);
  await rename(copying, to);
}

async function initialise(engine: InstalledEngine, data: string): Promise<void> {
  if (engine.kind === 'mysql') {
    const [program = 'mysqld', ...first] = engine.command;
    await run(program, [
      ...first,
      '--no-defaults',
      ...engine.ownArguments,
      ...asRoot(),
      `--datadir=${data}`,
      '--initialize-insecure',
      '--disable-log-bin',
      ...REDO_SETTINGS.mysql,
    ]);
    return;
  }
  if (engine.installer === undefined) throw new Error('mariadb-install-db is not on this machine');
  await run(engine.installer, [
    '--no-defaults',
    `--datadir=${data}`,
    `--user=${userInfo().username}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    '--skip-name-resolve',
    ...REDO_SETTINGS.mariadb,
  ]);
}

function reason(error: unknown): string {
  const output =
    error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n').slice(-10).join('\n') : '';
  return output === '' ? String(error) : output;
}

const BLOCK = 4096;
const CHUNK = 256 * BLOCK;
const ZEROS = Buffer.alloc(CHUNK);

/** Copies a folder without blocks of zeros, which then take no room. */
export async function copySparsely(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copySparsely(source, target);
    else if (entry.isFile()) await copyFile(source, target);
  }
}

async function copyFile(from: string, to: string): Promise<void> {
  await using source = await open(from, 'r');
  const { mode, size } = await source.stat();
  await using target = await open(to, 'wx', mode & 0o777);
  const chunk = Buffer.alloc(CHUNK);
  for (let at = 0; at < size;) {
    const { bytesRead } = await source.read(chunk, 0, CHUNK, at);
    if (bytesRead === 0) break;
    await writeBlocks(target, chunk.subarray(0, bytesRead), at);
    at += bytesRead;
  }
  await target.truncate(size);
}

/** Writes the runs of blocks that hold data. */
async function writeBlocks(target: FileHandle, chunk: Buffer, position: number): Promise<void> {
  if (isZero(chunk)) return;
  for (let at = 0; at < chunk.length;) {
    const start = at;
    const skips = isZero(chunk.subarray(at, at + BLOCK));
    while (at < chunk.length && isZero(chunk.subarray(at, at + BLOCK)) === skips) at += BLOCK;
    if (!skips) await target.write(chunk, start, Math.min(at, chunk.length) - start, position + start);
  }
}

function isZero(part: Buffer): boolean {
  return part.equals(ZEROS.subarray(0, part.length));
}
