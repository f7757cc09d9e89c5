import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { VERSION } from '../../shared/version.ts';

const changelog = readFileSync(join(PROJECT_ROOT, 'CHANGELOG.md'), 'utf8');

it('the version is the same everywhere', () => {
  const { version } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  const [, newest] = /^## (\d+\.\d+\.\d+)/mu.exec(changelog) ?? [];
  expect([version, newest]).toEqual([VERSION, VERSION]);
});
