import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { loadDefinitions } from '../../../shared/definitions/load-definitions.ts';
import { folder, writeIn } from './support/definitions-folder.ts';

beforeEach(() => writeIn('shop/datastore.yaml', 'datastore: shop\nshards: 4\n'));

const INDEX =
  'table: buyer_index\ndatastore: shop\ncolumn_defs:\n  - column_key: ORDER\n    fields:\n      - { field: buyer_uuid, type: UUID }\n';
const TRIGGER = "trigger: confirm_order\ndatastore: shop\ncolumns: '*'\n";

/** What is wrong with the folder, a line each; nothing where it is taken. */
function complaints(): string[] {
  try {
    loadDefinitions(folder.path);
    return [];
  } catch (error) {
    return String(Object(error).message)
      .split('\n')
      .slice(1)
      .map((line) => line.trim());
  }
}

it.each([
  [
    'an index in a folder of another name',
    'shop/index/buyer_index.yaml',
    INDEX,
    'shop/index: wanted datastore.yaml and the folders indexes and triggers, got a folder: did you mean indexes/?',
  ],
  [
    'a trigger in a folder of another case',
    'shop/Triggers/confirm_order.yaml',
    TRIGGER,
    'shop/Triggers: wanted datastore.yaml and the folders indexes and triggers, got a folder: did you mean triggers/?',
  ],
  [
    'a folder that nothing knows',
    'shop/views/x.yaml',
    'view: x\n',
    'shop/views: wanted datastore.yaml and the folders indexes and triggers, got a folder',
  ],
  [
    'a trigger beside its datastore',
    'shop/confirm_order.yaml',
    TRIGGER,
    'shop/confirm_order.yaml: wanted datastore.yaml and the folders indexes and triggers, got a file: did you mean triggers/confirm_order.yaml?',
  ],
  [
    'an index beside its datastore',
    'shop/buyer_index.yml',
    INDEX,
    'shop/buyer_index.yml: wanted datastore.yaml and the folders indexes and triggers, got a file: did you mean indexes/buyer_index.yaml?',
  ],
  [
    'a trigger beside the datastores',
    'confirm_order.yaml',
    TRIGGER,
    'confirm_order.yaml: wanted a folder for each datastore, got a file: did you mean shop/triggers/confirm_order.yaml?',
  ],
  [
    'a datastore beside the datastores',
    'y.yaml',
    'datastore: y\nshards: 4\n',
    'y.yaml: wanted a folder for each datastore, got a file: did you mean y/datastore.yaml?',
  ],
  ['a file beside the datastores', 'notes.txt', 'hello', 'notes.txt: wanted a folder for each datastore, got a file'],
  [
    'an index whose name ends otherwise',
    'shop/indexes/buyer_index.yml',
    INDEX,
    'shop/indexes/buyer_index.yml: wanted only files named <index>.yaml in the folder indexes: did you mean buyer_index.yaml?',
  ],
  [
    'a folder among the triggers',
    'shop/triggers/old.yaml/confirm_order.yaml',
    TRIGGER,
    'shop/triggers/old.yaml: wanted only files named <trigger>.yaml in the folder triggers',
  ],
  ['a file in place of the folder of indexes', 'shop/indexes', INDEX, 'shop/indexes: wanted a folder, got a file'],
])('%s is named, with what was wanted', (_, file, text, complaint) => {
  writeIn(file, text);
  expect(complaints()).toEqual([complaint]);
});

it.each(['datastore.yml', 'Datastore.yaml', 'datastores.yaml'])('a datastore in a file %s is named once', (name) => {
  writeIn(`trips/${name}`, 'datastore: trips\nshards: 4\n');
  expect(complaints()).toEqual([
    `trips/${name}: wanted datastore.yaml and the folders indexes and triggers, got a file: did you mean datastore.yaml?`,
  ]);
});

it('what editors hide and notes for people may lie anywhere', () => {
  for (const place of ['', 'shop/', 'shop/indexes/', 'shop/triggers/']) {
    writeIn(`${place}README.md`, '# Notes');
    writeIn(`${place}.DS_Store`, '');
  }
  expect(complaints()).toEqual([]);
});

it('a datastore whose folder is a link is read', () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'schemaless-elsewhere-'));
  writeFileSync(join(elsewhere, 'datastore.yaml'), 'datastore: linked\nshards: 1\n');
  symlinkSync(elsewhere, join(folder.path, 'linked'));
  expect(loadDefinitions(folder.path).datastores.map(({ name }) => name)).toEqual(['linked', 'shop']);
  rmSync(elsewhere, { recursive: true });
});
