import { createReadStream, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { marksIn } from './marked.ts';

/** What a file of a server is. */
export type FileKind = 'tables' | 'binary logs' | 'redo logs' | 'undo logs' | 'doublewrite';

export interface FoundOnDisk {
  /** Marks of bodies that were erased, by what kind of file they lie in: files and all marks in them. */
  readonly marks: Readonly<Record<FileKind, number>>;
  /** The first files of tables that have any. */
  readonly files: readonly string[];
  /** Marks of bodies that are kept, in the files of tables: that the search finds what is there. */
  readonly kept: number;
}

/** Reads every file of a folder, byte by byte, and looks for marks. @param isErased whether a body was */
export async function searchDisk(
  folder: string,
  isErased: (row: number, version: number) => boolean,
): Promise<FoundOnDisk> {
  const marks: Record<FileKind, number> = {
    tables: 0,
    'binary logs': 0,
    'redo logs': 0,
    'undo logs': 0,
    doublewrite: 0,
  };
  const files: string[] = [];
  let kept = 0;
  for (const file of filesIn(folder)) {
    const kind = kindOf(file);
    let erased = 0;
    for await (const bytes of overlapping(file))
      for (const { row, version } of marksIn(bytes)) {
        if (isErased(row, version)) erased += 1;
        else if (kind === 'tables') kept += 1;
      }
    marks[kind] += erased;
    if (erased > 0 && kind === 'tables') files.push(`${file}: ${erased}`);
  }
  return { marks, files: files.slice(0, 5), kept };
}

/** Bytes of the files of tables of one datastore. */
export function tableBytes(folder: string, datastore: string): number {
  const isOf = new RegExp(`/${datastore}_\\d+/[^/]+\\.ibd$`, 'u');
  return filesIn(folder)
    .filter((file) => isOf.test(file))
    .reduce((sum, file) => sum + statSync(file).size, 0);
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function kindOf(file: string): FileKind {
  const name = basename(file);
  if (/^(?:binlog|relay)/u.test(name)) return 'binary logs';
  if (/^(?:ib_logfile|#ib_redo)/u.test(name)) return 'redo logs';
  // MariaDB has its undo logs in the system tablespace.
  if (/^(?:undo_|ibdata|ibtmp)/u.test(name)) return 'undo logs';
  if (/^#ib_.*dblwr/u.test(name)) return 'doublewrite';
  return 'tables';
}

const PIECE = 4 * 1024 * 1024;
const OVERLAP = 64;

/** The pieces of a file, each with the end of the one before: no mark lies across two. */
async function* overlapping(file: string): AsyncGenerator<Buffer> {
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
