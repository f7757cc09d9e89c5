import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { CONTROL_STEPS, SHARD_STEPS } from '../../shared/migrate/steps.ts';
import { VERSION } from '../../shared/version.ts';

const changelog = readFileSync(join(PROJECT_ROOT, 'CHANGELOG.md'), 'utf8');

it('the version is the same everywhere', () => {
  const { version } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  const [, newest] = /^## (\d+\.\d+\.\d+)/mu.exec(changelog) ?? [];
  expect([version, newest]).toEqual([VERSION, VERSION]);
});

it('the changelog names every schema step', () => {
  const named = (kind: string): number[] =>
    [...changelog.matchAll(new RegExp(`${kind} steps? ([\\d, and]+)`, 'gu'))].flatMap(([, numbers = '']) =>
      [...numbers.matchAll(/\d+/gu)].map(Number),
    );
  expect(named('control').sort()).toEqual(CONTROL_STEPS.map((_, index) => index + 1));
  expect(named('shard').sort()).toEqual(SHARD_STEPS.map((_, index) => index + 1));
});
