import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openInput } from '../../../../infra/cli/files/import/open-input.ts';
import { uuidV5 } from '../../../../shared/uuid-v5.ts';
import { sendWindow } from '../../../../infra/cli/files/import/send-window.ts';
import { START, type SourceItem } from '../../../../infra/cli/files/import/source.ts';
import { importTests, itemsIn } from './import-file.ts';

const ROW_KEY = '886313e1-3b8a-5372-9b90-0c9aee199e5d';
const scene = importTests();
const { importFile, rejected } = scene;

/** Returns the result of each record of a CSV: the note, or the code of its reject. */
async function notesOf(name: string, bytes: Buffer): Promise<readonly unknown[]> {
  const path = join(scene.folder, name);
  const mapping = join(scene.folder, 'mapping.yaml');
  writeFileSync(path, bytes);
  writeFileSync(mapping, 'row_key: { column: id }\ncolumn_name: BASE\nref_key: line\nbody: { note: note }\n');
  return (await itemsIn(path, { mapping })).map(({ cell, reject }) => reject?.code ?? Object(cell?.body).note);
}

const record = (note: string | Buffer): Buffer => Buffer.concat([Buffer.from(`${ROW_KEY},`), Buffer.from(note)]);
const csv = (lines: readonly Buffer[], header = 'id,note'): Buffer =>
  Buffer.concat([Buffer.from(header), ...lines].flatMap((line) => [line, Buffer.from('\n')]));

test('a record of a CSV that is not UTF-8 is rejected, and those beside it are stored', async () => {
  const latin1 = record(Buffer.from('São Paulo', 'latin1'));
  const lines = [record('São Paulo'), latin1, record('"two\n\nlines"'), record('\uFFFD as it is'), latin1, record('z')];
  const notes = ['São Paulo', 'not_utf8', 'two\n\nlines', '\uFFFD as it is', 'not_utf8', 'z'];
  expect(await notesOf('plain.csv', csv(lines))).toEqual(notes);
  expect(await notesOf('marked.csv', csv(lines, '\uFEFFid,note'))).toEqual(notes);
});

test('records are told from those that are not UTF-8 wherever pieces of the file end', async () => {
  const many = Array.from({ length: 20_000 }, (_, position) => {
    if (position % 1000 === 999) return record(Buffer.from('é', 'latin1'));
    return position % 1000 === 500 ? record(`"${'ü\n'.repeat(10_000)}"`) : record('\uFFFDü');
  });
  const notes = await notesOf('long.csv', csv(many));
  expect(notes.filter((note) => note === 'not_utf8')).toHaveLength(20);
  expect(notes.filter((note) => note === '\uFFFDü')).toHaveLength(19_960);
});

test('a CSV whose first line is not UTF-8 is refused', async () => {
  const bytes = Buffer.concat([Buffer.from('id,note,s\u00e3o\n', 'latin1'), csv([record('x')]).subarray(8)]);
  await expect(notesOf('header.csv', bytes)).rejects.toMatchObject({ code: 'bad_input' });
});

test('a CSV that names a column twice is refused, where the mapping means it', async () => {
  const line = Buffer.from(`${ROW_KEY},one,two`);
  await expect(notesOf('doubled.csv', csv([line], 'id,note,note'))).rejects.toMatchObject({
    code: 'bad_mapping',
    message: expect.stringContaining('note'),
  });
  const other = Buffer.concat([record('one'), Buffer.from(',2,3')]);
  expect(await notesOf('others.csv', csv([other], 'id,note,x,x'))).toEqual(['one']);
});

const NAMESPACE = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
const MANY = '17,2026-01-01T08:00:00Z,2,"a\nlot",,';
const MAPPING = `
row_key: { uuid5: { namespace: ${NAMESPACE}, columns: [vendor, pickup] } }
column_name: BASE
ref_key: { column: version }
body:
  fare.total: { column: total, type: number }
  picked_up_at: { column: pickup, type: datetime }
  shared: { column: shared, type: boolean }
  note: note
`;

test('makes cells of the records of a CSV, and rejects those that are none', async () => {
  const file = `${scene.file}.csv`;
  const mapping = `${scene.file}.yaml`;
  writeFileSync(mapping, MAPPING);
  writeFileSync(
    file,
    `\uFEFFvendor,pickup,version,total,shared,note
17,2026-01-01T08:00:00Z,1,12.50,Y,"said ""thanks"",
twice"
17,2026-01-01T08:00:00Z,x,1,,
${MANY}
17
17,2026-01-01T08:00:00Z,3,9007199254740993,,
`,
  );

  const report = await importFile(file, { mapping });

  expect(report.counts).toMatchObject({ stored: 2, rejected: 3 });
  expect(rejected(file)).toMatchObject([
    { line: 4, last_line: 4, code: 'csv_value', field: 'version', reason: expect.stringContaining('got "x"') },
    { line: 5, last_line: 6, code: 'csv_value', field: 'total', text: `${MANY}\n` },
    { line: 7, last_line: 7, code: 'csv_record' },
  ]);
  const row_key = uuidV5(NAMESPACE, JSON.stringify(['17', '2026-01-01T08:00:00Z']));
  const { cells } = await scene.datastore.versions({ row_key, column_name: 'BASE' }, { order: 'asc' });
  expect(cells.map(({ ref_key, body }) => ({ ref_key, body }))).toEqual([
    {
      ref_key: 1,
      body: {
        fare: { total: 12.5 },
        picked_up_at: '2026-01-01T08:00:00Z',
        shared: true,
        note: 'said "thanks",\ntwice',
      },
    },
    { ref_key: 3, body: { fare: { total: 9007199254740993n }, picked_up_at: '2026-01-01T08:00:00Z' } },
  ]);
});

test('names every fault of a mapping, and a column that the CSV lacks', async () => {
  const file = `${scene.file}.csv`;
  const mapping = `${scene.file}.yaml`;
  writeFileSync(file, 'a,b\n1,2\n');
  writeFileSync(
    mapping,
    'row_key: { column: a }\ncolumn_name: BASE\nref_key: -1\nbody: { n: { column: b, type: int } }\n',
  );
  await expect(openInput(file, { mapping })).rejects.toMatchObject({
    code: 'bad_mapping',
    message: expect.stringMatching(/^[^\n]*ref_key[^\n]*body\.n\.type: wanted one of [^\n]*integer[^\n]*$/u),
  });

  writeFileSync(
    mapping,
    `row_key: { uuid5: { namespace: ${NAMESPACE}, columns: a } }\ncolumn_name: 7\nref_key: x\nbody: {}\n`,
  );
  const wanted = /row_key: wanted \{ column: NAME \}.*column_name: wanted a text.*ref_key: wanted a whole number/u;
  await expect(openInput(file, { mapping })).rejects.toMatchObject({ message: expect.stringMatching(wanted) });

  const spelled: readonly (readonly [options: string, fault: RegExp])[] = [
    ['decimal: ","', /decimal and thousands for numbers only/u],
    ['type: number, thousands: "."', /thousands other than decimal/u],
    ['type: number, zone: UTC', /zone and format for datetime only/u],
    ['type: datetime, zone: Europe/Olso', /Europe\/Olso/u],
    ['type: datetime, zone: UTC, format: dd.MM.yy', /format: wanted letters of .* got yy/u],
    ['type: datetime, zone: UTC, format: HH:mm', /format: wanted a year/u],
    ['type: datetime, zone: UTC, format: yyyy-MM-dd hh:mm', /format: wanted h with a/u],
    ['type: datetime, format: yyyy-MM-dd', /format: wanted X in it, or a zone/u],
  ];
  writeFileSync(mapping, 'row_key: { column: a }\ncolumn_name: BASE\nref_key: 1\nbody: {}\ndelimiter: 🚕\n');
  await expect(openInput(file, { mapping })).rejects.toThrow('delimiter: wanted one character up to U+FFFF');
  for (const [options, fault] of spelled) {
    writeFileSync(
      mapping,
      `row_key: { column: a }\ncolumn_name: BASE\nref_key: 1\nbody: { n: { column: b, ${options} } }\n`,
    );
    await expect(openInput(file, { mapping })).rejects.toMatchObject({
      code: 'bad_mapping',
      message: expect.stringMatching(new RegExp(`body\\.n: .*${fault.source}`, 'u')),
    });
  }

  writeFileSync(mapping, 'row_key: { column: a }\ncolumn_name: BASE\nref_key: 1\nbody: { n: c }\n');
  await expect(importFile(file, { mapping })).rejects.toMatchObject({
    code: 'bad_mapping',
    message: expect.stringContaining('wanted the columns c'),
  });
});

test('an unclosed quote before many short lines of a shard does not enlarge windows, and even large ones are sent', async () => {
  const file = `${scene.file}.csv`;
  const mapping = `${scene.file}.yaml`;
  writeFileSync(file, `id,note\n${ROW_KEY},"open\n${`${ROW_KEY},1\n`.repeat(130_000)}`);
  writeFileSync(mapping, 'row_key: { column: id }\ncolumn_name: BASE\nref_key: line\nbody: {}\n');
  const { sources } = await openInput(file, { mapping });
  const pieces: (readonly SourceItem[])[] = [];
  for (const source of sources) for await (const items of source.read(START)) pieces.push(items);

  const { settled, failure } = await sendWindow(pieces.flat(), {
    client: {
      batchPut: async (cells) => cells.map(() => ({ outcome: 'stored', shard: 0, added_id: 1 })),
      batchRestore: () => Promise.reject(new TypeError('no times')),
      transact: () => Promise.reject(new TypeError('no transactions')),
    },
    heads: [{ shard: 0, group: 'group-1', head: 0 }],
    areTimesKept: false,
    concurrency: 8,
    patienceMs: 1000,
    signal: undefined,
    told: () => undefined,
  });

  expect(failure).toBeUndefined();
  expect(settled.size).toBe(130_001);
  expect(pieces.filter((items) => items.length > 10_000)).toEqual([]);
});

test('makes the UUIDs of version 5 that others make', () => {
  // As Python's `uuid.uuid5(uuid.NAMESPACE_DNS, 'python.org')`.
  expect(uuidV5(NAMESPACE, 'python.org')).toBe('886313e1-3b8a-5372-9b90-0c9aee199e5d');
});
