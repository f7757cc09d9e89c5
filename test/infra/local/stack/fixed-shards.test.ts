import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readAppContext } from '../../../../infra/app-context.ts';
import { checkShardCounts, lastShardCounts } from '../../../../infra/local/stack/fixed-shards.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';

const folder = folderOfTests();
const datastores = join(folder.path, 'datastores');
const file = join(folder.path, 'custom-resources.json');

/** Checks a definition, and what `--shards` says, against a datastore that was created with 64 shards. */
function check(yaml: string, most: number): void {
  mkdirSync(join(datastores, 'shop'), { recursive: true });
  writeFileSync(join(datastores, 'shop', 'datastore.yaml'), yaml);
  writeFileSync(
    file,
    JSON.stringify({
      'service/Migration': {
        physicalId: 'constant',
        properties: { Groups: [], Datastores: [{ name: 'shop', shards: '64' }] },
      },
    }),
  );
  const { definitions } = readAppContext({ environment: 'local', datastores, shards: most });
  checkShardCounts({ created: lastShardCounts(file), definitions: definitions.datastores, datastores });
}

it('a shard count that is changed in its file is named with its line', () => {
  expect(() => check('# ours\ndatastore: shop\nshards: 128\n', 256)).toThrow(
    `${datastores}/shop/datastore.yaml:3: shards: wanted 64, with which the datastore shop was created, got 128`,
  );
  expect(() => check('datastore: shop\nshards: 32\n', 256)).toThrow(
    `${datastores}/shop/datastore.yaml:2: shards: wanted 64, `,
  );
});

it('one that the flag changes is named with the flag', () => {
  expect(() => check('datastore: shop\nshards: 4096\n', 256)).toThrow(
    '--shards: wanted 64, with which the datastore shop was created, got 256',
  );
});

it('the same, also by the flag, is taken', () => {
  expect(() => check('datastore: shop\nshards: 64\n', 256)).not.toThrow();
  expect(() => check('datastore: shop\nshards: 4096\n', 64)).not.toThrow();
});

it('a datastore that is new, and a stack that is, are taken', () => {
  const { definitions } = readAppContext({ environment: 'local' });
  for (const made of [file, `${file}.none`])
    expect(() =>
      checkShardCounts({
        created: lastShardCounts(made),
        definitions: definitions.datastores,
        datastores: undefined,
      }),
    ).not.toThrow();
});
