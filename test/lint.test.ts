import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'schemaless-lint-'));
cpSync(join(ROOT, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What lint says of a file with this one import. */
function lint(file: string, imported: string): string {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `import { thing } from '${imported}';\nexport const other = thing;\n`);
  try {
    return execFileSync(process.execPath, [join(ROOT, 'node_modules/oxlint/bin/oxlint'), '--deny-warnings', path], { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    return String(Object(error).stdout);
  }
}

describe('the layering rule', () => {
  it.each([
    ['shared/store/planted.ts', '../../functions/config.ts'],
    ['shared/planted.ts', '../infra/environments.ts'],
    ['shared/planted.ts', 'aws-cdk-lib'],
    ['shared/planted.ts', 'aws-cdk-lib/aws-rds'],
    ['shared/planted.ts', '@middy/core'],
    ['shared/planted.ts', 'aws-lambda'],
    ['functions/planted.ts', '../infra/environments.ts'],
    ['functions/planted.ts', 'aws-cdk-lib'],
    ['infra/planted.ts', '../functions/config.ts'],
    ['infra/local/planted.ts', '../../test/support/dynamo.ts'],
  ])('forbids %s to import %s', (file, imported) => {
    expect(lint(file, imported)).toContain('no-restricted-imports');
  });

  it.each([
    ['functions/planted.ts', '../shared/cell.ts'],
    ['infra/planted.ts', '../shared/cell.ts'],
    ['test/planted.ts', '../functions/config.ts'],
  ])('lets %s import %s', (file, imported) => {
    expect(lint(file, imported)).not.toContain('no-restricted-imports');
  });
});
