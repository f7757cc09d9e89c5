import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MODEL_NAMESPACE } from '../../../shared/models/row-key.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../infra/docs/models.md'), 'utf8');
const TESTS = readFileSync(join(import.meta.dirname, 'nouns.test.ts'), 'utf8');

it('each noun of the page has its test, and each test its noun', () => {
  const [, table = ''] = PAGE.split('## The nouns, one by one');
  const rows = [...table.matchAll(/^\| (?!what it is|-).* \| ([^|]+) \|$/gmu)].map(([, test = '']) => test.trim());
  const tests = [...TESTS.matchAll(/^ {4}it\('([^']+)'/gmu)].map(([, test = '']) => test);
  expect(rows.toSorted()).toEqual(tests.toSorted());
  expect(rows).toHaveLength(29);
});

it('the page names the namespace of row keys', () => {
  expect(PAGE).toContain(MODEL_NAMESPACE);
});
