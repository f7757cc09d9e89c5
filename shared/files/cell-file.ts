import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Cell } from '../cell.ts';

export interface CellFile {
  /** Of the cells written so far as JSON, about: on disk they are fewer as a rule. */
  readonly textBytes: number;
  /** In the order of the log. Returns once there is room for more. */
  write(cells: readonly Cell[]): Promise<void>;
  /** Returns once the file is whole, and on disk. */
  finish(): Promise<FileSum>;
  discard(): Promise<void>;
}

interface FileSum {
  readonly bytes: number;
  readonly sha256: string;
}

export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function sumFile(path: string): Promise<FileSum> {
  const sum = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    sum.update(piece);
    bytes += piece.length;
  }
  return { bytes, sha256: sum.digest('hex') };
}
