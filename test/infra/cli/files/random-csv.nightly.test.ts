import { expect, test } from 'vitest';
import { folderOfTests } from '../../support/folder-of-tests.ts';
import { checkRandomFiles } from './csv-property.ts';

const folder = folderOfTests();

test('10,000 random files of CSV are imported as they were written', async () => {
  expect(await checkRandomFiles(folder.path, { numRuns: 10_000 })).toBe(10_000);
}, 600_000);
