import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readMapping } from '../../../../infra/cli/files/import/csv-mapping.ts';
import { csvSource } from '../../../../infra/cli/files/import/csv-source.ts';
import { RECORD_BYTES } from '../../../../infra/cli/files/import/csv-records.ts';
import { START } from '../../../../infra/cli/files/import/source.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';
import { checkRandomFiles, encoded, inPieces } from './csv-property.ts';
import { itemsIn } from './import-file.ts';

const NAMESPACE = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
const scene = folderOfTests();
const PEOPLE = `
row_key: { uuid5: { namespace: ${NAMESPACE}, columns: [id] } }
column_name: BASE
ref_key: 1
body: { id: id, name: name, city: city }
`;

/** Returns the values of each record, or the first line, last line, code and text of its reject. */
async function peopleIn(bytes: Buffer, pieces: readonly number[]): Promise<readonly unknown[]> {
  const path = join(scene.path, 'people.yaml');
  writeFileSync(path, PEOPLE);
  const stream = inPieces(bytes, pieces);
  const open = () => ({ stream, bytesRead: () => 0, textRead: () => 0 });
  const found: unknown[] = [];
  for await (const items of csvSource({ name: 'people.csv', size: undefined, open, mapping: readMapping(path) }).read(
    START,
  ))
    for (const { cell, reject, line, lastLine } of items)
      found.push(
        cell ? Object.values(Object(cell.body)) : reject ? [line, lastLine, reject.code, reject.text] : 'skipped',
      );
  return found;
}

const ADA = ['1', 'Ada', 'Oslo'];
const BO = ['2', 'Bo', 'Rome'];
const CY = ['3', 'Cy', 'Bern'];
const broken = (first: number, last: number, text: string): readonly unknown[] => [first, last, 'csv_record', text];

const FILES: readonly (readonly [what: string, text: string, ...expected: readonly unknown[]])[] = [
  ['LF after the header, then CRLF', 'id,name,city\n1,Ada,Oslo\r\n2,Bo,Rome\r\n', ADA, BO],
  ['CRLF after the header, then LF', 'id,name,city\r\n1,Ada,Oslo\n2,Bo,Rome\n3,Cy,Bern\n', ADA, BO, CY],
  ['CR alone', 'id,name,city\r1,Ada,Oslo\r2,Bo,Rome', ADA, BO],
  ['CR after the header, then every kind', 'id,name,city\r1,Ada,Oslo\r\n2,Bo,Rome\n3,Cy,Bern\r', ADA, BO, CY],
  ['CRLF after quotes', '"id","name","city"\r\n"1","Ada","Oslo"\r\n"2",Bo,"Rome"\n', ADA, BO],
  ['line ends inside of quotes', 'id,name,city\r\n1,"A\r\nd\ra\n",Oslo\n2,Bo,Rome', ['1', 'A\r\nd\ra\n', 'Oslo'], BO],
  [
    'empty lines',
    '\r\nid,name,city\n\n1,Ada,Oslo\r\r\n2,Bo,Rome\n\n',
    'skipped',
    'skipped',
    ADA,
    'skipped',
    BO,
    'skipped',
  ],
  ['empty values', 'id,name,city\n1,,""\n2,Bo,Rome\n', ['1'], BO],

  [
    'a quote that swallows lines',
    'id,name,city\n1,"a"b,"c\n2,Bo,Rome\n3,Cy,Bern\n1,"Ada",Oslo\n',
    broken(2, 2, '1,"a"b,"c\n'),
    BO,
    CY,
    ADA,
  ],
  [
    'quotes with backslashes',
    'id,name,city\n1,"Ada \\"Q\\" L",Oslo\n2,Bo,Rome\n',
    broken(2, 2, '1,"Ada \\"Q\\" L",Oslo\n'),
    BO,
  ],
  [
    'two of these, and a whole record of lines',
    'id,name,city\n1,"\\"Q\\"",Oslo\n1,"\\"Q\\" L",Oslo\n2,"B\no",Rome\n3,Cy,Bern\n',
    broken(2, 2, '1,"\\"Q\\"",Oslo\n'),
    broken(3, 3, '1,"\\"Q\\" L",Oslo\n'),
    ['2', 'B\no', 'Rome'],
    CY,
  ],
  [
    'an unclosed quote before records with quotes',
    'id,name,city\n1,"Ada,Oslo\n2,"Bo",Rome\n3,Cy,"Bern"\n',
    broken(2, 2, '1,"Ada,Oslo\n'),
    BO,
    CY,
  ],
  [
    'one that closes in the last value',
    'id,name,city\n1,"Ada,Oslo\n2,Bo,Rome\n3,Cy,Bern"\n',
    broken(2, 2, '1,"Ada,Oslo\n'),
    BO,
    broken(4, 4, '3,Cy,Bern"\n'),
  ],
  ['one until the end', 'id,name,city\n1,Ada,Oslo\n2,Bo,"Ro\r\n', ADA, broken(3, 3, '2,Bo,"Ro\r\n')],
  [
    'a broken record of lines',
    'id,name,city\n1,"one\ntwo "quoted" more\nthree",Oslo\n2,Bo,Rome\n',
    broken(2, 4, '1,"one\ntwo "quoted" more\nthree",Oslo\n'),
    BO,
  ],
  [
    'a broken record that has a line like a record inside, as the documents say',
    'id,name,city\n1,"Said "no"\n2,Bo,Rome\nend",Oslo\n3,Cy,Bern\n',
    broken(2, 2, '1,"Said "no"\n'),
    BO,
    broken(4, 4, 'end",Oslo\n'),
    CY,
  ],
  [
    'a record of lines with a value too many',
    'id,name,city\r\n1,"one\r\ntwo",x,Oslo\r\n2,Bo,Rome\r\n',
    broken(2, 3, '1,"one\r\ntwo",x,Oslo\r\n'),
    BO,
  ],
  [
    'quotes inside of a value',
    'id,name,city\n1,5" pipe,Oslo\n1, "Ada",Oslo\n1,"Ada" ,Oslo\n2,Bo,Rome\n',
    broken(2, 2, '1,5" pipe,Oslo\n'),
    broken(3, 3, '1, "Ada",Oslo\n'),
    broken(4, 4, '1,"Ada" ,Oslo\n'),
    BO,
  ],

  ['a separator', 'sep=;\r\nid;name;city\r\n1;Ada;Oslo\r\n', ADA],
  ['that of the mapping', 'sep=,\nid,name,city\n1,Ada,Oslo\n', ADA],
  ['a tabulator', 'SEP=\t\rid\tname\tcity\r1\tAda\tOslo', ADA],
  [
    'a separator of more bytes',
    'sep=¦\nid¦name¦city\n1¦Ada¦"Os¦lo"\n2¦"Bo"x¦Rome\n',
    ['1', 'Ada', 'Os¦lo'],
    broken(4, 4, '2¦"Bo"x¦Rome\n'),
  ],
];

const CASES = FILES.map(([what, text, ...expected]) => ({ what, text, expected }));

test.each(CASES)('a CSV with $what, in any encoding and pieces', async ({ text, expected }) => {
  for (const encoding of ['utf8', 'utf8-marked', 'utf16le', 'utf16be'])
    for (const pieces of [[1], [2, 3], [7], [4096]])
      expect(await peopleIn(encoded(text, encoding), pieces)).toEqual(expected);
});

test('an unclosed quote of a large file costs its line, and the reject names where it opens', async () => {
  const [path, mapping] = [join(scene.path, 'large.csv'), join(scene.path, 'large.yaml')];
  writeFileSync(mapping, PEOPLE);
  writeFileSync(
    path,
    `id,name,city\n1,Ada,"Oslo\n${`2,Bo,${'Rome'.repeat(2000)}\n`.repeat(1200)}3,"Cy\n${'x'.repeat(RECORD_BYTES + 1)}`,
  );
  const [reject, ...others] = await itemsIn(path, { mapping });
  expect(reject).toMatchObject({ line: 2, lastLine: 2, reject: { text: '1,Ada,"Oslo\n' } });
  expect(reject?.reject?.reason).toMatch(/^value 3, whose quote opens in line 2: wanted its end within 8388608 bytes/u);
  expect(others.filter(({ cell }) => cell)).toHaveLength(1200);
  expect(others.slice(1200)).toMatchObject([
    {
      line: 1203,
      lastLine: 1203,
      reject: {
        reason: `value 2, whose quote opens in line 1203: wanted its end before line 1204, which has over ${RECORD_BYTES} bytes`,
        text: '3,"Cy\n',
      },
    },
    { line: 1204, lastLine: 1204, reject: { code: 'line_too_long' } },
  ]);
});

test('a CSV with a broken header is refused', async () => {
  await expect(peopleIn(Buffer.from('id,"name,city\n1,Ada,Oslo\n'), [9])).rejects.toMatchObject({
    code: 'bad_input',
    message: expect.stringContaining('value 2, whose quote opens in line 1'),
  });
  await expect(peopleIn(Buffer.alloc(RECORD_BYTES + 1, 'a'), [RECORD_BYTES])).rejects.toThrow(
    `line 1: wanted at most ${RECORD_BYTES} bytes`,
  );
  await expect(peopleIn(Buffer.from('sep=🚕\nid🚕name🚕city\n'), [9])).rejects.toThrow('got sep=🚕');
});

test('random files of CSV are imported as they were written', async () => {
  expect(await checkRandomFiles(scene.path, { numRuns: 300, seed: 57 })).toBe(300);
});

const SPECTRUM = join(import.meta.dirname, '../../../../node_modules/csv-spectrum');

test.each(readdirSync(join(SPECTRUM, 'csvs')))('%s of csv-spectrum is read as its suite says', async (name) => {
  const records: Record<string, string>[] = JSON.parse(
    readFileSync(join(SPECTRUM, 'json', name.replace('.csv', '.json')), 'utf8'),
  );
  const mapping = join(scene.path, 'spectrum.yaml');
  const body = Object.fromEntries(Object.keys(records[0] ?? { Cities: '' }).map((column) => [column, column]));
  const row_key = { uuid5: { namespace: NAMESPACE, columns: 'line' } };
  writeFileSync(mapping, JSON.stringify({ row_key, column_name: 'BASE', ref_key: 1, body, empty: 'keep' }));
  const items = await itemsIn(join(SPECTRUM, 'csvs', name), { mapping });
  // RFC 4180 has no quotes in values that do not begin with one; the suite has other values for this file, too.
  if (name === 'location_coordinates.csv') expect(items).toMatchObject([{ reject: { code: 'csv_record' } }]);
  else expect(items.map(({ cell }) => cell?.body)).toEqual(records);
});
