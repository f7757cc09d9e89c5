import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MODEL_NAMESPACE } from '../../../shared/models/row-key.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../infra/docs/models.md'), 'utf8');
const TESTS = readFileSync(join(import.meta.dirname, 'nouns.test.ts'), 'utf8');

it('the page lists each operation that has a test', () => {
  const [, list = ''] = PAGE.split('## Operations');
  const rows = [...list.matchAll(/^- (.+?): /gmu)].map(([, test = '']) => test);
  const tests = [...TESTS.matchAll(/^ {4}it\('([^']+)'/gmu)].map(([, test = '']) => test);
  expect(rows.toSorted()).toEqual(tests.toSorted());
  expect(rows).toHaveLength(29);
});

it('the page names the namespace of row keys', () => {
  expect(PAGE).toContain(MODEL_NAMESPACE);
});
