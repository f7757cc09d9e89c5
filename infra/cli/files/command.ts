/** `import` and `export` by themselves: `node infra/cli/files/command.ts --url … --datastore … import FILE`. */
import { Command } from 'commander';
import { schemalessClient } from '../../../shared/client/client.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { ClientOf } from './client-of.ts';
import { exportCommand } from './export-command.ts';
import { FilesError } from './files-error.ts';
import { importCommand } from './import-command.ts';

const EXIT_CODE = { internal: 1, usage: 2, unavailable: 5 } as const;

const byFlags: ClientOf = (command, signal) => {
  const { url, datastore } = command.optsWithGlobals<{ url: string; datastore: string }>();
  return { url, datastore, client: schemalessClient({ url, datastore, signal }) };
};

const command = new Command('files')
  .option('--url <url>', 'of the API', 'http://127.0.0.1:4000')
  .option('--datastore <name>', 'which one', 'trips')
  .enablePositionalOptions()
  .addCommand(importCommand(byFlags))
  .addCommand(exportCommand(byFlags))
  .showHelpAfterError();

try {
  await command.parseAsync();
} catch (error) {
  if (!(error instanceof FilesError) && !(error instanceof SchemalessError)) throw error;
  process.stderr.write(`${error.code}: ${error.message}\n`);
  const { internal, unavailable } = EXIT_CODE;
  if (error instanceof FilesError) process.exitCode = EXIT_CODE[error.ending];
  else process.exitCode = error.retry === 'later' ? unavailable : internal;
}
