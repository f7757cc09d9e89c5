import { randomUUID } from 'node:crypto';
import { relative } from 'node:path';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { Json } from '../../../shared/cell.ts';
import { filesIn, kindOf, piecesOf, type FileKind } from '../../support/files/bytes-on-disk.ts';
import { grouped, sumOf } from '../fault-run.ts';

const MARKS = {
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

/** What a file of a local stack, of its servers, or of an export, is. */
type Place = FileKind | 'queues' | 'state' | 'logs of the store' | 'snapshots' | 'exports' | 'others';
type InPlaces = Partial<Record<Place, number>>;

export type FoundMarks = Readonly<Record<Fate, InPlaces>> & {
  /** The first files with bodies that were erased, but for those that expire. */
  readonly files: readonly string[];
};

/** Where bodies that were erased may be until their backups expire. */
const EXPIRES: ReadonlySet<Place> = new Set(['binary logs', 'snapshots']);
const FILES = 8;

export async function searchFiles(data: string, exports?: string): Promise<FoundMarks> {
  const found: Record<Fate, InPlaces> = { erased: {}, forgotten: {}, sealed: {}, kept: {} };
  const files = new Map<string, number>();
  const search = async (file: string, place: Place): Promise<void> => {
    for await (const bytes of piecesOf(file))
      for (const fate of Object.keys(MARKS) as Fate[]) {
        const count = countOf(bytes, MARKS[fate]);
        if (count === 0) continue;
        found[fate][place] = (found[fate][place] ?? 0) + count;
        if (fate === 'erased' && !EXPIRES.has(place)) files.set(file, (files.get(file) ?? 0) + count);
      }
  };
  for (const file of filesIn(data)) await search(file, placeOf(relative(data, file)));
  if (exports !== undefined) for (const file of filesIn(exports)) await search(file, 'exports');
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

export function sumIn(found: InPlaces): number {
  return sumOf(Object.values(found));
}

export function leftIn({ erased }: Pick<FoundMarks, 'erased'>): number {
  const places = Object.entries(erased) as [Place, number][];
  return sumOf(places.filter(([place]) => !EXPIRES.has(place)).map(([, count]) => count));
}

/** "tables 3, undo logs 1,200" */
export function placesLine(found: InPlaces): string {
  return (
    Object.entries(found)
      .map(([place, count]) => `${place} ${grouped(count)}`)
      .join(', ') || 'none'
  );
}
