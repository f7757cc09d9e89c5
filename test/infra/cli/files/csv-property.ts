import { join } from 'node:path';
import fc from 'fast-check';
import Papa from 'papaparse';
import { expect } from 'vitest';
import { csvSource } from '../../../../infra/cli/files/import/csv-source.ts';
import { importCells } from '../../../../infra/cli/files/import/import-cells.ts';
import { newJournal } from '../../../../infra/cli/files/import/journal.ts';
import { uuidV5 } from '../../../../shared/uuid-v5.ts';
import { referenceStore } from '../../../support/reference-store.ts';
import { SHARDS } from './import-file.ts';

const NAMESPACE = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
const UNITS = [
  'a',
  '1',
  ' ',
  '"',
  '""',
  ',',
  ';',
  '\t',
  '|',
  '\\',
  '=',
  '\r',
  '\n',
  '\r\n',
  'é',
  '東',
  '🚕',
  '\uFEFF',
  '\uFFFD',
];
const text = fc.array(fc.constantFrom(...UNITS), { maxLength: 8 }).map((units) => units.join(''));
const rows = fc.integer({ min: 2, max: 5 }).chain((width) => {
  const row = fc.array(text, { minLength: width, maxLength: width });
  const names = fc.uniqueArray(text.filter(Boolean), { minLength: width, maxLength: width });
  return fc.tuple(names, fc.array(row, { maxLength: 12 }));
});
const ending = fc.constantFrom('\n', '\r\n', '\r');

/** A file of CSV: what Papa Parse writes, with some line ends, in some encoding, read in some pieces. */
const file = fc.record({
  rows,
  delimiter: fc.constantFrom(',', ';', '\t', '|'),
  isQuoted: fc.boolean(),
  endings: fc.array(ending, { minLength: 1, maxLength: 4 }),
  isEnded: fc.boolean(),
  encoding: fc.constantFrom('utf8', 'utf8-marked', 'utf16le', 'utf16be'),
  pieces: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 }),
});

/** Imports random files, and compares the cells with what was written. Returns how many files were equal. */
export async function checkRandomFiles(folder: string, options: fc.Parameters<unknown>): Promise<number> {
  let equal = 0;
  const property = fc.asyncProperty(file, async ({ rows: [header, records], delimiter, ...drawn }) => {
    const lines = [header, ...records].map((row) => Papa.unparse([row], { delimiter, quotes: drawn.isQuoted }));
    const bytes = encoded(joined(lines, drawn), drawn.encoding);
    const mapping = {
      row_key: { uuid5: { namespace: NAMESPACE, columns: 'line' as const } },
      column_name: 'BASE',
      ref_key: 1,
      body: Object.fromEntries(header.map((column, at) => [`c${at}`, { column, type: 'string' as const }])),
      delimiter,
      empty: 'keep' as const,
    };
    const open = () => ({ stream: inPieces(bytes, drawn.pieces), bytesRead: () => 0, textRead: () => 0 });
    const source = csvSource({ name: 'random.csv', size: undefined, open, mapping });
    const store = referenceStore('readings', SHARDS);
    const { counts } = await importCells(store, {
      sources: [source],
      journal: newJournal({ url: 'here', datastore: 'readings', inputs: [], reading: {} }),
      rejectsPath: join(folder, 'random.rejects.ndjson'),
    });
    expect(counts).toEqual({ stored: records.length, stored_before: 0, buffered: 0, skipped: 0, rejected: 0 });
    for (const [at, record] of records.entries()) {
      const { cell } = await store.getLatest({ row_key: uuidV5(NAMESPACE, String(at + 1)), column_name: 'BASE' });
      expect(Object.values(Object(cell?.body))).toEqual(record);
    }
    equal += 1;
  });
  await fc.assert(property, options);
  return equal;
}

function joined(
  lines: readonly string[],
  { endings, isEnded }: { readonly endings: readonly string[]; readonly isEnded: boolean },
): string {
  const last = lines.length - 1;
  return lines.map((line, at) => `${line}${at < last || isEnded ? endings[at % endings.length] : ''}`).join('');
}

/** Returns text in an encoding that files have, with its byte order mark but for `utf8`. */
export function encoded(text: string, encoding: string): Buffer {
  if (encoding === 'utf8') return Buffer.from(text);
  if (encoding === 'utf8-marked') return Buffer.from(`\uFEFF${text}`);
  const bytes = Buffer.from(`\uFEFF${text}`, 'utf16le');
  return encoding === 'utf16le' ? bytes : bytes.swap16();
}

export async function* inPieces(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let [at, turn] = [0, 0]; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}
