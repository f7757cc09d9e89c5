import { createReadStream, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

/** What a file of a database server is. */
export type FileKind = 'tables' | 'binary logs' | 'redo logs' | 'undo logs' | 'doublewrite';

export function kindOf(file: string): FileKind {
  const name = basename(file);
  if (/^(?:binlog|relay)/u.test(name)) return 'binary logs';
  if (/^(?:ib_logfile|#ib_redo)/u.test(name)) return 'redo logs';
  // MariaDB has its undo logs in the system tablespace, and its doublewrite buffer.
  if (/^(?:undo_|ibdata|ibtmp)/u.test(name)) return 'undo logs';
  if (/^#ib_.*dblwr/u.test(name)) return 'doublewrite';
  return 'tables';
}

/** Every file under a folder. */
export function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const PIECE = 4 * 1024 * 1024;
const OVERLAP = 64;

/**
 * The pieces of a file, each with the end of the one before: no mark of up to 64 bytes lies across two, and one may be in
 * both.
 */
export async function* piecesOf(file: string): AsyncGenerator<Buffer> {
  let end: Buffer = Buffer.alloc(0);
  // A file may go while it is looked for, as a log that is over.
  try {
    for await (const piece of createReadStream(file, { highWaterMark: PIECE })) {
      yield Buffer.concat([end, piece as Buffer]);
      end = (piece as Buffer).subarray(-OVERLAP);
    }
  } catch (error) {
    if (Object(error).code !== 'ENOENT') throw error;
  }
}
