import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../../infra/support/temporary-folder.ts';
import { definitionsFolder } from './definitions-folder.ts';

const folder = definitionsFolder();
beforeEach(() => folder.write('shop/datastore.yaml', 'datastore: shop\nshards: 4\n'));

const IN_DATASTORE = 'wanted datastore.yaml and the folders indexes and triggers, got a';
const IN_ROOT = 'wanted a folder for each datastore, got a file';

const complaints = (): string[] => folder.problems().map(({ file, message }) => `${file}: ${message}`);

it.each([
  ['shop/index/buyer_index.yaml', `shop/index: ${IN_DATASTORE} folder: did you mean indexes/?`],
  ['shop/Triggers/confirm.yaml', `shop/Triggers: ${IN_DATASTORE} folder: did you mean triggers/?`],
  ['shop/views/x.yaml', `shop/views: ${IN_DATASTORE} folder`],
  ['shop/confirm.yaml', `shop/confirm.yaml: ${IN_DATASTORE} file: did you mean triggers/confirm.yaml?`],
  ['shop/buyer.yml', `shop/buyer.yml: ${IN_DATASTORE} file: did you mean indexes/buyer.yaml?`],
  ['confirm.yaml', `confirm.yaml: ${IN_ROOT}: did you mean shop/triggers/confirm.yaml?`],
  ['y.yaml', `y.yaml: ${IN_ROOT}: did you mean y/datastore.yaml?`],
  ['notes.txt', `notes.txt: ${IN_ROOT}`],
  ['shop/indexes', 'shop/indexes: wanted a folder, got a file'],
  ['trips/datastore.yml', `trips/datastore.yml: ${IN_DATASTORE} file: did you mean datastore.yaml?`],
  ['trips/Datastore.yaml', `trips/Datastore.yaml: ${IN_DATASTORE} file: did you mean datastore.yaml?`],
  ['trips/datastores.yaml', `trips/datastores.yaml: ${IN_DATASTORE} file: did you mean datastore.yaml?`],
  [
    'shop/indexes/buyer.yml',
    'shop/indexes/buyer.yml: wanted only files named <index>.yaml in the folder indexes: did you mean buyer.yaml?',
  ],
  [
    'shop/triggers/old.yaml/confirm.yaml',
    'shop/triggers/old.yaml: wanted only files named <trigger>.yaml in the folder triggers',
  ],
])('%s is refused once, with what was wanted', (file, complaint) => {
  folder.write(file, textOf(file));
  expect(complaints()).toEqual([complaint]);
});

function textOf(file: string): string {
  if (/buyer/u.test(file))
    return 'table: buyer\ndatastore: shop\ncolumn_defs: [{ column_key: ORDER, fields: [{ field: id, type: UUID }] }]\n';
  if (/confirm/u.test(file)) return "trigger: confirm\ndatastore: shop\ncolumns: '*'\n";
  if (/datastore|^y/iu.test(file)) return `datastore: ${file.startsWith('y') ? 'y' : 'trips'}\nshards: 4\n`;
  return 'view: x\n';
}

it('hidden files and notes may lie anywhere', () => {
  for (const place of ['', 'shop/', 'shop/indexes/', 'shop/triggers/']) {
    folder.write(`${place}README.md`, '# Notes');
    folder.write(`${place}.DS_Store`, '');
  }
  expect(folder.load()).toHaveLength(1);
});

it('a datastore whose folder is a link is read', () => {
  using elsewhere = temporaryFolder();
  mkdirSync(join(elsewhere.path, 'linked'));
  writeFileSync(join(elsewhere.path, 'linked/datastore.yaml'), 'datastore: linked\nshards: 1\n');
  symlinkSync(join(elsewhere.path, 'linked'), join(folder.path, 'linked'));
  expect(folder.load().map(({ name }) => name)).toEqual(['linked', 'shop']);
});
