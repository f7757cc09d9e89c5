import { randomUUID } from 'node:crypto';
import { createReadStream, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { Json } from '../../../shared/cell.ts';
import { grouped, sumOf } from '../fault-run.ts';

const MARKS = {
  erased: 'eRaS-',
  /** In sealed fields, of subjects that are forgotten and of others. */
  forgotten: 'fOrG-',
  sealed: 'sEaL-',
  /** Next to sealed fields, and in all other rows. */
  kept: 'kEpT-',
} as const;
type Fate = keyof typeof MARKS;

/** Returns a mark such as `eRaS-0a1b2c3d`, which is found anywhere. */
export const markOf = (fate: Fate): string => `${MARKS[fate]}${randomUUID().slice(0, 8)}`;

/** Returns a body that is stored verbatim, so that its mark is found on disk. All rows share its kind. */
export function markedBody(fate: Fate): Json {
  return { kind: 'row', mark: markOf(fate) };
}

/** Throws an Error if bodies would not be on disk verbatim. */
export function requireReadable(): void {
  if (!Buffer.from(encodeBody(markedBody('erased'))).includes(MARKS.erased))
    throw new Error('wanted bodies of marks that are stored as they are');
}

/** A kind of file of a local stack, or of an export. Servers keep bytes in their files until these are rebuilt. */
type Place = 'servers' | 'queues' | 'state' | 'logs of the store' | 'snapshots' | 'exports' | 'others';
type InPlaces = Partial<Record<Place, number>>;

type FoundMarks = Readonly<Record<Fate, InPlaces>> & {
  /** The first files of the store itself with erased bodies. */
  readonly files: readonly string[];
};

/** Places where bytes of erased bodies may stay: an erasure empties table rows, and snapshots expire. */
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

/** Reads a file in overlapping pieces, so that no mark is cut in two. */
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

function countOf(bytes: Buffer, mark: string): number {
  let count = 0;
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) count += 1;
  return count;
}

export function sumIn(found: InPlaces): number {
  return sumOf(Object.values(found));
}

/** Counts marks in places where no erased body may be. */
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
