/** `npm run schema`: writes the JSON Schemas of this folder; with `-- --check` it says which differ, and fails. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { jsonSchemas } from './json-schemas.ts';

const command = new Command('npm run schema --')
  .description('JSON Schemas of the YAML of datastores, for editors: infra/schemas/*.schema.json.')
  .option('--check', 'write nothing; fail where a file is not what would be written')
  .showHelpAfterError('(--help lists what there is)')
  .parse();

for (const [name, text] of Object.entries(jsonSchemas())) {
  const file = join(import.meta.dirname, name);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  if (command.opts<{ check?: boolean }>().check) {
    process.stderr.write(`infra/schemas/${name}: is not what npm run schema writes\n`);
    process.exitCode = 1;
  } else {
    writeFileSync(file, text);
    process.stdout.write(`infra/schemas/${name}: written\n`);
  }
}
