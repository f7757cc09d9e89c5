import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { testsWithoutMysql } from './touches-mysql.ts';

it('tests are classified by whether they can touch MySQL: given servers, by what they import, or in a thread', () => {
  const without = testsWithoutMysql();
  expect(without).toContain('test/support/touches-mysql.test.ts');
  expect(without).toContain('test/shared/body/codec.test.ts');
  for (const file of [
    'test/shared/store/mysql-store.test.ts',
    'test/infra/cli/local-stack.nightly.test.ts',
    'test/infra/local/mysql/promotion.test.ts',
    'test/infra/local/data-api/data-api.test.ts',
    'test/shared/files/run-export.nightly.test.ts',
  ]) {
    expect(existsSync(join(PROJECT_ROOT, file))).toBe(true);
    expect(without).not.toContain(file);
  }
});
