import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readAppContext } from '../../../../infra/app-context.ts';
import { checkShardCounts, lastShardCounts } from '../../../../infra/local/stack/stack-sources.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';
import { writeFiles } from '../../support/write-files.ts';

const folder = folderOfTests();
const datastores = join(folder.path, 'datastores');
const file = join(folder.path, 'custom-resources.json');

/** Checks a definition, and what `--shards` says, against a datastore that was created with 64 shards. */
function check(yaml: string, most: number): void {
  writeFiles(datastores, { 'shop/datastore.yaml': yaml });
  const properties = { Groups: [], Datastores: [{ name: 'shop', shards: '64' }] };
  writeFileSync(file, JSON.stringify({ 'service/Migration': { physicalId: 'constant', properties } }));
  const { definitions } = readAppContext({ environment: 'local', datastores, shards: most });
  checkShardCounts({ created: lastShardCounts(file), definitions: definitions.datastores, datastores });
}

const CREATED = 'wanted 64, with which the datastore shop was created, got';
it.each([
  [
    'in its file, with the line',
    '# ours\ndatastore: shop\nshards: 128\n',
    256,
    `datastore.yaml:3: shards: ${CREATED} 128`,
  ],
  ['in its file, for fewer', 'datastore: shop\nshards: 32\n', 256, `datastore.yaml:2: shards: ${CREATED} 32`],
  ['by the flag', 'datastore: shop\nshards: 4096\n', 256, `--shards: ${CREATED} 256`],
])('a shard count that is changed is named where it is: %s', (_, yaml, most, message) => {
  expect(() => check(yaml, most)).toThrow(message);
});

it('the same is taken, also by the flag, and any of a datastore or a stack that is new', () => {
  expect(() => check('datastore: shop\nshards: 64\n', 256)).not.toThrow();
  expect(() => check('datastore: shop\nshards: 4096\n', 64)).not.toThrow();
  const { datastores: definitions } = readAppContext({ environment: 'local' }).definitions;
  for (const made of [file, `${file}.none`]) {
    const created = lastShardCounts(made);
    expect(() => checkShardCounts({ created, definitions, datastores: undefined })).not.toThrow();
  }
});
