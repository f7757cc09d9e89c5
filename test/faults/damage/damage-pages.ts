import { closeSync, fsyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import type { EngineKind } from '../../../infra/setup/engine.mjs';
import { Random } from '../../support/random.ts';
import { fitChecksum, hasItsChecksum, PAGE_BYTES } from './page-checksum.ts';

export interface PageDamage {
  /** A table's file, `entity.ibd`, while its server is stopped. */
  readonly file: string;
  readonly engine: EngineKind;
  readonly seed: string;
  /** Text within bodies: a letter of it is changed, so that nothing but a body is damaged. */
  readonly mark: string;
  /** Pages of which one letter is changed. */
  readonly letters: number;
  /** Pages that are overwritten from end to end. */
  readonly whole: number;
  /** The checksums are made to fit, so that the engine does not notice. */
  readonly fit: boolean;
}

/** Offsets within a page. */
const TYPE_AT = 24;
const LEVEL_AT = 64;
const INDEX_AT = 66;
/** FIL_PAGE_INDEX: rows of a table, or of one of its keys. */
const INDEX_PAGE = 17_855;

/**
 * Damages pages that hold cells.
 *
 * @throws Error when there are not so many, or when a page's checksum is not what it is expected to be
 */
export function damagePages({ file, engine, seed, mark, letters, whole, fit }: PageDamage): void {
  const descriptor = openSync(file, 'r+');
  try {
    const random = new Random(seed, 'damaged pages', letters);
    // Neither the first nor the last: whoever looks for the log's end would meet that each time.
    const numbers = cellPages(descriptor, mark).slice(1, -1);
    const chosen = Array.from(
      { length: letters + whole },
      () => numbers.splice(random.integer(0, numbers.length - 1), 1)[0],
    );
    for (const [place, number] of chosen.entries()) {
      if (number === undefined) throw new Error(`${file} has too few pages with cells`);
      const page = readPage(descriptor, number);
      if (!hasItsChecksum(engine, page))
        throw new Error(`page ${number} of ${file} carries a checksum of another kind`);
      if (place < letters) {
        const at = page.indexOf(mark) + mark.length - 1;
        page[at] = (page[at] ?? 0) ^ 1;
      } else {
        for (let at = 0; at < PAGE_BYTES; at += 1) page[at] = random.integer(0, 255);
      }
      if (fit) fitChecksum(engine, page);
      writeSync(descriptor, page, 0, PAGE_BYTES, number * PAGE_BYTES);
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The numbers of the leaf pages of the table itself, not of its keys, that hold bodies with this text. */
function cellPages(descriptor: number, mark: string): number[] {
  const pages = Array.from({ length: Math.floor(fstatSync(descriptor).size / PAGE_BYTES) }, (_, number) => ({
    number,
    page: readPage(descriptor, number),
  }));
  const rows = pages.filter(({ page }) => page.readUInt16BE(TYPE_AT) === INDEX_PAGE);
  const table = rows[0]?.page.readBigUInt64BE(INDEX_AT);
  return rows
    .filter(
      ({ page }) =>
        page.readUInt16BE(LEVEL_AT) === 0 && page.readBigUInt64BE(INDEX_AT) === table && page.includes(mark),
    )
    .map(({ number }) => number);
}

function readPage(descriptor: number, number: number): Buffer {
  const page = Buffer.alloc(PAGE_BYTES);
  readSync(descriptor, page, 0, PAGE_BYTES, number * PAGE_BYTES);
  return page;
}
