import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import type { EngineKind } from '../../../infra/setup/engine.mjs';
import { Random } from '../../support/random.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import { toBytes, toNumber } from '../../../shared/sql/cell-rows.ts';
import { rowsOf, withClient } from '../../support/past-the-store.ts';
import { DATASTORE, type GroupAccess } from '../../support/store-access.ts';

interface PageDamage {
  /** The file of a table, `entity.ibd`, while its server is stopped. */
  readonly file: string;
  readonly engine: EngineKind;
  readonly seed: string;
  /** Text within bodies: only a letter of it is changed, so that nothing but a body is damaged. */
  readonly mark: string;
  readonly letters: number;
  readonly whole: number;
  readonly fit: boolean;
}

/** Offsets within a page. */
const TYPE_AT = 24;
const LEVEL_AT = 64;
const INDEX_AT = 66;
/** FIL_PAGE_INDEX: rows of a table, or of one of its keys. */
const INDEX_PAGE = 17_855;

/** Damages pages that hold cells. Throws if there are too few, or if a checksum is of another kind. */
export function damagePages({ file, engine, seed, mark, letters, whole, fit }: PageDamage): void {
  const descriptor = openSync(file, 'r+');
  try {
    const random = new Random(seed, 'damaged pages', letters);
    // Neither the first nor the last: each read of the log's end would meet that page.
    const numbers = cellPages(descriptor, mark).slice(1, -1);
    const chosen = Array.from(
      { length: letters + whole },
      () => numbers.splice(random.integer(0, numbers.length - 1), 1)[0],
    );
    for (const [position, number] of chosen.entries()) {
      if (number === undefined) throw new Error(`${file} has too few pages with cells`);
      const page = readPage(descriptor, number);
      if (!hasItsChecksum(engine, page))
        throw new Error(`page ${number} of ${file} carries a checksum of another kind`);
      if (position < letters) {
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

/** Returns the numbers of the leaf pages of the table itself, not of its keys, that hold bodies with this text. */
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

const PAGE_BYTES = 16_384;

/** Castagnoli's polynomial, bits reversed. */
const POLYNOMIAL = 0x82f63b78;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  return value;
});

function crc32c(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = (value >>> 8) ^ (table[(value ^ byte) & 0xff] ?? 0);
  return ~value >>> 0;
}

function hasItsChecksum(engine: EngineKind, page: Buffer): boolean {
  const before = Buffer.from(page);
  fitChecksum(engine, before);
  return before.equals(page);
}

/** Writes the checksum of a page's bytes into the page, as the engine does before it writes the page to disk. */
function fitChecksum(engine: EngineKind, page: Buffer): void {
  if (engine === 'mariadb') {
    // The checksum of all bytes before it.
    page.writeUInt32BE(crc32c(page.subarray(0, PAGE_BYTES - 4)), PAGE_BYTES - 4);
    return;
  }
  // Excludes the checksum itself, the fields that only a file's first page uses, and the trailer.
  const checksum = (crc32c(page.subarray(4, 26)) ^ crc32c(page.subarray(38, PAGE_BYTES - 8))) >>> 0;
  page.writeUInt32BE(checksum, 0);
  page.writeUInt32BE(checksum, PAGE_BYTES - 8);
}

/** Changes the first bodies of a shard past the store: flips a bit, removes the last byte, or adds one. */
export async function damageBodies(
  groups: readonly GroupAccess[],
  shard: number,
  count: number,
  seed: string,
): Promise<void> {
  const random = new Random(seed, 'damaged bodies', shard);
  const table = entityTable(DATASTORE, shard);
  await withClient(groups, groups[0]?.name ?? '', async (client) => {
    const found = await rowsOf(client, `SELECT added_id, body FROM ${table} ORDER BY added_id LIMIT ?`, [count]);
    for (const [id, body] of found) {
      const parameters = [damaged(random, Buffer.from(toBytes(body))), toNumber(id)];
      await client.change({ sql: `UPDATE ${table} SET body = ? WHERE added_id = ?`, parameters });
    }
  });
}

function damaged(random: Random, body: Buffer): Buffer {
  const draw = random.next();
  if (draw < 0.1) return body.subarray(0, -1);
  if (draw < 0.2) return Buffer.concat([body, Buffer.from([random.integer(0, 255)])]);
  const at = random.integer(0, body.length - 1);
  body[at] = (body[at] ?? 0) ^ (1 << random.integer(0, 7));
  return body;
}
