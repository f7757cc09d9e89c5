import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { replaceAssembly } from '../../../../infra/local/template/replace-assembly.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

it('a new assembly takes the place of the last, but for the bundles that functions run from', () => {
  using folder = temporaryFolder();
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder.path, file)), { recursive: true });
    writeFileSync(join(folder.path, file), text);
  };
  for (const file of ['out/manifest.json', 'out/asset.old/index.mjs', 'out/asset.used/index.mjs']) write(file, 'old');
  for (const file of ['next/manifest.json', 'next/asset.new/index.mjs', 'next/asset.used/index.mjs'])
    write(file, 'new');
  const out = join(folder.path, 'out');
  replaceAssembly(join(folder.path, 'next'), out, [join(out, 'asset.used/index.mjs'), '/elsewhere/index.mjs']);
  expect(readdirSync(out).sort()).toEqual(['asset.new', 'asset.used', 'manifest.json']);
  expect(readFileSync(join(out, 'manifest.json'), 'utf8')).toBe('new');
  // It is what a running function was loaded from; a bundle of this name has this content.
  expect(readFileSync(join(out, 'asset.used/index.mjs'), 'utf8')).toBe('old');
  expect(existsSync(join(out, 'asset.old'))).toBe(false);
});
