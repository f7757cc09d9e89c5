import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../infra/app-context.ts';
import { temporaryFolder } from './infra/support/temporary-folder.ts';

const FORBIDDEN = [
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
  ['infra/stacks/planted.ts', '../cli/cli.ts'],
  ['infra/stacks/planted.ts', '../app.ts'],
  ['infra/local/mysql/planted.ts', '../stack/local-stack.ts'],
  ['infra/local/iam/planted.ts', '../template/template.ts'],
  ['infra/local/template/resources/planted.ts', '../../running/endpoints.ts'],
  ['infra/local/control/planted.ts', '../stack/local-stack.ts'],
  ['infra/local/stack/planted.ts', '../../../shared/store/append.ts'],
  ['infra/cli/commands/planted.ts', '../../../shared/topology/defined.ts'],
  ['infra/console/page/planted.ts', '../../../shared/sql/client.ts'],
] as const;
const ALLOWED = [
  ['functions/planted.ts', '../shared/cell.ts'],
  ['functions/planted.ts', '../shared/definitions/definitions.ts'],
  ['shared/definitions/planted.ts', './yaml-schemas.ts'],
  ['infra/planted.ts', '../shared/cell.ts'],
  ['test/planted.ts', '../functions/environment/config.ts'],
  ['test/faults/planted.ts', './fault-run.ts'],
  ['test/faults/away/planted.ts', '../fault-run.ts'],
  ['test/bench/planted.ts', '../support/servers.ts'],
  ['shared/index/planted.ts', '../access/context.ts'],
  ['shared/index/planted.ts', './statements/put-entries.ts'],
  ['shared/index/repair/planted.ts', '../entry.ts'],
  ['shared/triggers/consume/planted.ts', '../state/message.ts'],
  ['shared/triggers/consume/planted.ts', '../../client/client.ts'],
  ['infra/local/stack/planted.ts', '../control/commands.ts'],
  ['infra/local/template/resources/planted.ts', '../../mysql/shard-groups.ts'],
  ['infra/cli/target/planted.ts', '../../local/stack/local-stack-options.ts'],
  ['infra/cli/target/planted.ts', '../../../shared/client/client.ts'],
  ['infra/cli/commands/planted.ts', '../../../shared/cell.ts'],
  ['infra/local/running/planted.ts', '../../../shared/topology/dynamo-topology.ts'],
] as const;

/** The planted files in which lint forbids the one import that each has, by their place among all. */
function forbiddenAmong(imports: readonly (readonly [string, string])[]): ReadonlySet<number> {
  using folder = temporaryFolder();
  for (const file of ['oxlint.config.ts', 'infra/docs/rooms.ts']) {
    mkdirSync(dirname(join(folder.path, file)), { recursive: true });
    cpSync(join(PROJECT_ROOT, file), join(folder.path, file));
  }
  for (const [at, [file, imported]] of imports.entries()) {
    const path = join(folder.path, file.replace('.ts', `-${at}.ts`));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `import { type Thing, thing } from '${imported}';\nexport const other: Thing = thing;\n`);
  }
  const oxlint = join(PROJECT_ROOT, 'node_modules/oxlint/bin/oxlint');
  const { stdout } = spawnSync(process.execPath, [oxlint, '--format=json'], { cwd: folder.path, encoding: 'utf8' });
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: readonly { code: string; filename: string }[] };
  return new Set(
    diagnostics
      .filter(({ code }) => code.includes('no-restricted-imports'))
      .map(({ filename }) => Number(/-(\d+)\.ts$/u.exec(filename)?.[1])),
  );
}

describe('the layering rule', () => {
  const forbidden = forbiddenAmong([...FORBIDDEN, ...ALLOWED]);

  it.each(FORBIDDEN.map((one, at) => [...one, at] as const))('forbids %s to import %s', (_file, _imported, at) => {
    expect(forbidden).toContain(at);
  });

  it.each(ALLOWED.map((one, at) => [...one, FORBIDDEN.length + at] as const))(
    'lets %s import %s',
    (_file, _imported, at) => {
      expect(forbidden).not.toContain(at);
    },
  );
});
