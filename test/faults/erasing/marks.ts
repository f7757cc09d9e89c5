import { randomUUID } from 'node:crypto';
import { createReadStream, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { Json } from '../../../shared/cell.ts';
import { grouped, sumOf } from '../fault-run.ts';

export const MARKS = {
  erased: 'eRaS-',
  /** Sealed, of subjects that are forgotten, and of such that are not. */
  forgotten: 'fOrG-',
  sealed: 'sEaL-',
  /** Next to what is sealed, and in all other rows. */
  kept: 'kEpT-',
} as const;
type Fate = keyof typeof MARKS;

/** `eRaS-0a1b2c3d`: found wherever it lies. */
export const markOf = (fate: Fate): string => `${MARKS[fate]}${randomUUID().slice(0, 8)}`;

/** A body that is stored as it is, so that its mark is found on disk. Its kind is of all rows alike. */
export function markedBody(fate: Fate): Json {
  return { kind: 'row', mark: markOf(fate) };
}

/** Throws an Error where bodies would not lie on disk as they are. */
export function requireReadable(): void {
  if (!Buffer.from(encodeBody(markedBody('erased'))).includes(MARKS.erased))
    throw new Error('wanted bodies of marks that are stored as they are');
}

/** What a file of a local stack, or of an export, is. Servers keep bytes in their own files until these are rebuilt. */
type Place = 'servers' | 'queues' | 'state' | 'logs of the store' | 'snapshots' | 'exports' | 'others';
type InPlaces = Partial<Record<Place, number>>;

type FoundMarks = Readonly<Record<Fate, InPlaces>> & {
  /** The first files of the store itself with bodies that were erased. */
  readonly files: readonly string[];
};

/** Where bytes of erased bodies may stay: an erasure empties the rows of tables, and snapshots expire. */
const MAY_STAY: ReadonlySet<Place> = new Set(['servers', 'snapshots']);
const FILES = 8;

export async function searchFiles(data: string, exports: string): Promise<FoundMarks> {
  const found: Record<Fate, InPlaces> = { erased: {}, forgotten: {}, sealed: {}, kept: {} };
  const files = new Map<string, number>();
  const search = async (file: string, place: Place): Promise<void> => {
    for await (const bytes of piecesOf(file))
      for (const fate of Object.keys(MARKS) as Fate[]) {
        const count = countOf(bytes, MARKS[fate]);
        if (count === 0) continue;
        found[fate][place] = (found[fate][place] ?? 0) + count;
        if (fate === 'erased' && !MAY_STAY.has(place)) files.set(file, (files.get(file) ?? 0) + count);
      }
  };
  for (const file of filesIn(data)) await search(file, placeOf(relative(data, file)));
  for (const file of filesIn(exports)) await search(file, 'exports');
  return { ...found, files: [...files].slice(0, FILES).map(([file, count]) => `${relative(data, file)}: ${count}`) };
}

/** The files that the store's processes log to. */
export function logsIn(data: string): readonly string[] {
  return filesIn(data).filter((file) => placeOf(relative(data, file)) === 'logs of the store');
}

/** @param path within the data folder */
function placeOf(path: string): Place {
  const [first = ''] = path.split('/');
  if (first === 'groups') return 'servers';
  if (first === 'snapshots') return 'snapshots';
  if (first === 'sqs') return 'queues';
  if (first === 'dynamodb') return 'state';
  return first.endsWith('.log') ? 'logs of the store' : 'others';
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const PIECE = 4 * 1024 * 1024;
const OVERLAP = 64;

/** Reads a file in pieces, each with the end of the one before, so that no mark is cut in two. */
async function* piecesOf(file: string): AsyncGenerator<Buffer> {
  let end: Buffer = Buffer.alloc(0);
  // A file may be deleted during the search.
  try {
    for await (const piece of createReadStream(file, { highWaterMark: PIECE })) {
      yield Buffer.concat([end, piece as Buffer]);
      end = (piece as Buffer).subarray(-OVERLAP);
    }
  } catch (error) {
    if (Object(error).code !== 'ENOENT') throw error;
  }
}

export function countOf(bytes: Buffer, mark: string): number {
  let count = 0;
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) count += 1;
  return count;
}

export function sumIn(found: InPlaces): number {
  return sumOf(Object.values(found));
}

/** Counts marks where none of an erased body may be. */
export function leftIn(found: InPlaces): number {
  const places = Object.entries(found) as [Place, number][];
  return sumOf(places.filter(([place]) => !MAY_STAY.has(place)).map(([, count]) => count));
}

/** "queues 3, exports 1,200" */
export function placesLine(found: InPlaces): string {
  return (
    Object.entries(found)
      .map(([place, count]) => `${place} ${grouped(count)}`)
      .join(', ') || 'none'
  );
}
