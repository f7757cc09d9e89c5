import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openInput } from '../../../../infra/cli/files/import/open-input.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';

const ROW_KEY = '886313e1-3b8a-5372-9b90-0c9aee199e5d';
const folder = folderOfTests();

/** What each record of a CSV becomes: the note, or the code of its reject. */
async function notesOf(name: string, bytes: Buffer): Promise<readonly unknown[]> {
  const path = join(folder.path, name);
  const mapping = join(folder.path, 'mapping.yaml');
  writeFileSync(path, bytes);
  writeFileSync(mapping, 'row_key: { column: id }\ncolumn_name: BASE\nref_key: line\nbody: { note: note }\n');
  const { sources } = await openInput(path, { mapping });
  const notes: unknown[] = [];
  for (const source of sources)
    for await (const items of source.read({ items: 0, bytes: 0 }))
      for (const { cell, reject } of items) notes.push(reject?.code ?? Object(cell?.unpack().body).note);
  return notes;
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
