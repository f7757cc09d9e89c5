import { encodeBody } from '../../../shared/body/codec.ts';
import type { Json, NewCell } from '../../../shared/cell.ts';

/** Versions that are kept of each column. */
export const KEPT = 10;

/** Large bodies, of which most of the space is made. */
export const LARGE = 'LARGE';
/** Small bodies, which are stored as they are, so that their marks are found on disk, and which are indexed. */
export const MARKED = 'MARKED';

/** What every mark begins with. */
export const MARK = 'mArK-';

/** `mArK-00042-0017.`: which row a body is of, and which version. */
export function markOf(row: number, version: number): string {
  return `${MARK}${String(row).padStart(5, '0')}-${String(version).padStart(4, '0')}.`;
}

const FOUND = new RegExp(`${MARK}(\\d{5})-(\\d{4})\\.`, 'gu');

/** The marks that lie in bytes, each once. */
export function marksIn(bytes: Buffer): readonly { readonly row: number; readonly version: number }[] {
  const found = new Set<string>();
  for (let at = bytes.indexOf(MARK); at >= 0; at = bytes.indexOf(MARK, at + 1))
    found.add(bytes.toString('latin1', at, at + MARK.length + 11));
  return [...found].flatMap((text) =>
    [...text.matchAll(FOUND)].map(([, row, version]) => ({ row: Number(row), version: Number(version) })),
  );
}

export function markedBody(row: number, version: number): Json {
  return { k: 'kind', m: markOf(row, version) };
}

/** Throws an Error where bodies would not lie on disk as they are. */
export function requireReadable(): void {
  if (!Buffer.from(encodeBody(markedBody(1, 1))).includes(markOf(1, 1)))
    throw new Error('wanted bodies of marks that are stored as they are');
}

/** What a version of a row is written as. */
export function cellsOf(row_key: string, row: number, version: number, filler: string): NewCell {
  return { row_key, column_name: LARGE, ref_key: version, body: { row, version, filler } };
}
