import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { dataFolder } from '../../../../infra/local/stack/data-folder.ts';
import { mostShards, rememberMostShards } from '../../../../infra/local/stack/most-shards.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

it('a new folder gets what it is to have at first, one keeps what it was told, and who says a number gets it', () => {
  using temporary = temporaryFolder();
  const folder = dataFolder(temporary.path);
  expect(mostShards(folder, undefined, 64)).toBe(64);
  expect(mostShards(folder, 1000, 64)).toBe(1000);
  rememberMostShards(folder, 1000);
  expect(mostShards(folder, undefined, 64)).toBe(1000);
  expect(mostShards(folder, 8, 64)).toBe(8);
});

it('a folder from before that was written down has 256, as was the default then', () => {
  using temporary = temporaryFolder();
  writeFileSync(join(temporary.path, 'custom-resources.json'), '{}');
  expect(mostShards(dataFolder(temporary.path), undefined, 64)).toBe(256);
});
