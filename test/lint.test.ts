import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'schemaless-lint-'));
for (const file of ['oxlint.config.ts', 'infra/docs/rooms.ts']) cpSync(join(ROOT, file), join(folder, file));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What lint says of a file with this one import. */
function lint(file: string, imported: string): string {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `import { type Thing, thing } from '${imported}';\nexport const other: Thing = thing;\n`);
  try {
    return execFileSync(process.execPath, [join(ROOT, 'node_modules/oxlint/bin/oxlint'), '--deny-warnings', path], {
      cwd: folder,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  } catch (error) {
    return String(Object(error).stdout);
  }
}

describe('the layering rule', () => {
  it.each([
    ['shared/store/planted.ts', '../../functions/environment/config.ts'],
    ['shared/planted.ts', '../infra/environments.ts'],
    ['shared/planted.ts', 'aws-cdk-lib'],
    ['shared/planted.ts', 'aws-cdk-lib/aws-rds'],
    ['shared/planted.ts', '@middy/core'],
    ['shared/planted.ts', 'aws-lambda'],
    ['functions/planted.ts', '../infra/environments.ts'],
    ['functions/planted.ts', 'aws-cdk-lib'],
    ['infra/planted.ts', '../functions/environment/config.ts'],
    ['infra/local/planted.ts', '../../test/support/dynamo.ts'],
    ['infra/local/data-api/planted.ts', '../listen.ts'],
    ['infra/local/data-api/planted.ts', '../../../shared/cell.ts'],
    ['infra/local/data-api/planted.ts', '../../../functions/environment/config.ts'],
    ['infra/local/emulators/planted.ts', '../data-api/limits.ts'],
    ['test/bench/planted.ts', '../faults/fault-run.ts'],
    ['test/faults/away/planted.ts', '../../demo/demo.ts'],
    ['test/support/planted.ts', '../faults/fault-run.ts'],
    ['shared/sql/planted.ts', '#connector'],
    ['shared/no-room/planted.ts', '../../functions/migrate.ts'],
    ['shared/planted.ts', './sql/client.ts'],
    ['shared/sql/planted.ts', '../access/context.ts'],
    ['shared/sql/statements/planted.ts', '../../index/index-table.ts'],
    ['shared/contract/planted.ts', '../store/deployment.ts'],
    ['shared/index/planted.ts', '../store/deployment.ts'],
    ['shared/index/planted.ts', './repair/run-repair.ts'],
    ['shared/index/repair/planted.ts', '../../drain/run-drain.ts'],
    ['shared/triggers/state/planted.ts', '../send/run-tailers.ts'],
    ['shared/triggers/send/planted.ts', '../consume/consumer.ts'],
    ['shared/topology/planted.ts', '../definitions/yaml-schemas.ts'],
    ['functions/planted.ts', '../shared/definitions/load-definitions.ts'],
  ])('forbids %s to import %s', (file, imported) => {
    expect(lint(file, imported)).toContain('no-restricted-imports');
  });

  it.each([
    ['functions/planted.ts', '../shared/cell.ts'],
    ['functions/planted.ts', '../shared/definitions/definitions.ts'],
    ['shared/definitions/planted.ts', './yaml-schemas.ts'],
    ['infra/planted.ts', '../shared/cell.ts'],
    ['infra/local/emulators/planted.ts', '../data-api/data-api.ts'],
    ['infra/local/data-api/planted.ts', './limits.ts'],
    ['infra/local/data-api/planted.ts', 'mysql2'],
    ['test/planted.ts', '../functions/environment/config.ts'],
    ['test/faults/planted.ts', './fault-run.ts'],
    ['test/faults/away/planted.ts', '../fault-run.ts'],
    ['test/bench/planted.ts', '../support/servers.ts'],
    ['shared/index/planted.ts', '../access/context.ts'],
    ['shared/index/planted.ts', './statements/put-entries.ts'],
    ['shared/index/repair/planted.ts', '../entry.ts'],
    ['shared/triggers/consume/planted.ts', '../state/message.ts'],
    ['shared/triggers/consume/planted.ts', '../../client/client.ts'],
  ])('lets %s import %s', (file, imported) => {
    expect(lint(file, imported)).not.toContain('no-restricted-imports');
  });
});
