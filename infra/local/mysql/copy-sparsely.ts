import { mkdir, open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

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
