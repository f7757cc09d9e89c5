/** `import` and `export` by themselves: `node infra/cli/files/command.ts --url … --datastore … import FILE`. */
import { Command } from 'commander';
import { SchemalessError } from '../../../shared/errors.ts';
import { exportCommand } from './export-command.ts';
import { FilesError } from './files-error.ts';
import { byFlags, importCommand } from './import-command.ts';

const command = new Command('files')
  .option('--url <url>', 'of the API', 'http://127.0.0.1:4000')
  .option('--datastore <name>', 'which one', 'trips')
  .addCommand(importCommand(byFlags))
  .addCommand(exportCommand(byFlags))
  .showHelpAfterError();

try {
  await command.parseAsync();
} catch (error) {
  if (!(error instanceof FilesError) && !(error instanceof SchemalessError)) throw error;
  process.stderr.write(`${error.code}: ${error.message}\n`);
  process.exitCode = 1;
}
