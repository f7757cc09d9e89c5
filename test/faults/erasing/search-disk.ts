import { statSync } from 'node:fs';
import { filesIn, kindOf, piecesOf, type FileKind } from '../../support/files/bytes-on-disk.ts';
import { marksIn } from './marked.ts';

export interface FoundOnDisk {
  /** Marks of bodies that were erased, by what kind of file they lie in: files and all marks in them. */
  readonly marks: Readonly<Record<FileKind, number>>;
  /** The first files that have any, but for binary logs. */
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
    for await (const bytes of piecesOf(file))
      for (const { row, version } of marksIn(bytes)) {
        if (isErased(row, version)) erased += 1;
        else if (kind === 'tables') kept += 1;
      }
    marks[kind] += erased;
    if (erased > 0 && kind !== 'binary logs') files.push(`${file}: ${erased}`);
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
