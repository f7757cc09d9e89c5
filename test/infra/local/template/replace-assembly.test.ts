import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { replaceAssembly } from '../../../../infra/local/template/synthesize.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { writeFiles } from '../../support/write-files.ts';

it('a new assembly takes the place of the last, but for the bundles that functions run from', () => {
  using folder = temporaryFolder();
  const old = { 'manifest.json': 'old', 'asset.old/index.mjs': 'old', 'asset.used/index.mjs': 'old' };
  writeFiles(join(folder.path, 'out'), old);
  const next = { 'manifest.json': 'new', 'asset.new/index.mjs': 'new', 'asset.used/index.mjs': 'new' };
  writeFiles(join(folder.path, 'next'), next);
  const out = join(folder.path, 'out');
  replaceAssembly(join(folder.path, 'next'), out, [join(out, 'asset.used/index.mjs'), '/elsewhere/index.mjs']);
  expect(readdirSync(out).sort()).toEqual(['asset.new', 'asset.used', 'manifest.json']);
  expect(readFileSync(join(out, 'manifest.json'), 'utf8')).toBe('new');
  // It is what a running function was loaded from; a bundle of this name has this content.
  expect(readFileSync(join(out, 'asset.used/index.mjs'), 'utf8')).toBe('old');
  expect(existsSync(join(out, 'asset.old'))).toBe(false);
});
