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
  ['shop/index/buyer_index.yaml', `shop/index: ${IN_DATASTORE} folder`],
  ['shop/confirm.yaml', `shop/confirm.yaml: ${IN_DATASTORE} file`],
  ['y.yaml', `y.yaml: ${IN_ROOT}`],
  ['notes.txt', `notes.txt: ${IN_ROOT}`],
  ['shop/indexes', 'shop/indexes: wanted a folder, got a file'],
  ['shop/indexes/buyer.yml', 'shop/indexes/buyer.yml: wanted only files named <index>.yaml in the folder indexes'],
  [
    'shop/triggers/old.yaml/confirm.yaml',
    'shop/triggers/old.yaml: wanted only files named <trigger>.yaml in the folder triggers',
  ],
])('%s is refused once, with what was wanted', (file, complaint) => {
  folder.write(file, 'table: buyer\n');
  expect(complaints()).toEqual([complaint]);
});

it('a datastore under another name of its file is refused, and so is that name', () => {
  folder.write('trips/Datastore.yaml', 'datastore: trips\nshards: 4\n');
  expect(complaints()).toEqual([
    'trips/datastore.yaml: wanted a file datastore.yaml in each folder, got none',
    `trips/Datastore.yaml: ${IN_DATASTORE} file`,
  ]);
});

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
