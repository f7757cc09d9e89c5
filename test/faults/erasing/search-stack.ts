import { relative } from 'node:path';
import { filesIn, kindOf, piecesOf, type FileKind } from '../../support/files/bytes-on-disk.ts';
import { FATES, MARKS, type Fate } from './marked-cells.ts';

/** What a file of a local stack, or of an export, is. */
export type Place = FileKind | 'queues' | 'state' | 'logs of the store' | 'snapshots' | 'exports' | 'others';

/** Marks by where they lie, and by what became of their bodies. */
export type FoundMarks = Readonly<Record<Fate, Partial<Record<Place, number>>>> & {
  /** The first files with bodies that were erased, but for those that expire. */
  readonly files: readonly string[];
};

/** Where bodies that were erased may be until their backups expire. */
const EXPIRES: ReadonlySet<Place> = new Set(['binary logs', 'snapshots']);

const FILES = 8;

/** Reads every file of a stack's data, and of what was exported, byte by byte. */
export async function searchStack(data: string, exports: string): Promise<FoundMarks> {
  const found: Record<Fate, Partial<Record<Place, number>>> = { erased: {}, forgotten: {}, sealed: {}, kept: {} };
  const files = new Map<string, number>();
  const search = async (file: string, place: Place): Promise<void> => {
    for await (const bytes of piecesOf(file))
      for (const fate of FATES) {
        const count = countOf(bytes, MARKS[fate]);
        if (count === 0) continue;
        found[fate][place] = (found[fate][place] ?? 0) + count;
        if (fate === 'erased' && !EXPIRES.has(place)) files.set(file, (files.get(file) ?? 0) + count);
      }
  };
  for (const file of filesIn(data)) await search(file, placeOf(relative(data, file)));
  for (const file of filesIn(exports)) await search(file, 'exports');
  return { ...found, files: [...files].slice(0, FILES).map(([file, count]) => `${relative(data, file)}: ${count}`) };
}

/** @param path within the data folder */
function placeOf(path: string): Place {
  const [first = ''] = path.split('/');
  if (first === 'groups') return kindOf(path);
  if (first === 'snapshots') return 'snapshots';
  if (first === 'sqs') return 'queues';
  if (first === 'dynamodb') return 'state';
  return first.endsWith('.log') ? 'logs of the store' : 'others';
}

function countOf(bytes: Buffer, mark: string): number {
  let count = 0;
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) count += 1;
  return count;
}

/** Marks in all places, but for those that expire, where that is said. */
export function sumIn(found: Partial<Record<Place, number>>, but: 'what expires' | 'nothing'): number {
  let sum = 0;
  for (const [place, count] of Object.entries(found) as [Place, number][])
    if (but === 'nothing' || !EXPIRES.has(place)) sum += count;
  return sum;
}

/** "tables 3, undo logs 1,200" */
export function placesLine(found: Partial<Record<Place, number>>): string {
  const all = Object.entries(found).map(([place, count]) => `${place} ${count.toLocaleString('en-US')}`);
  return all.length === 0 ? 'none' : all.join(', ');
}
