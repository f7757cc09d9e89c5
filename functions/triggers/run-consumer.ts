/**
 * Runs a trigger's function in a plain process: on one machine, or next to the services that it needs.
 *
 *     npm run run-consumer -- --trigger bill_rider --module functions/examples/bill-rider.ts
 *
 * Reads the same environment as the function in Lambda; `--datastore` and `--url` replace two of its variables.
 * Ends with SIGTERM or Ctrl-C, after the current call.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ENVIRONMENT_VARIABLES } from '../../shared/environment.ts';
import { consume } from './consume.ts';
import { logger } from '../environment/log.ts';
import type { MadeTrigger } from './open-consumer.ts';

const USAGE = 'npm run run-consumer -- --module FILE [--trigger NAME] [--datastore NAME] [--url URL]';
const HELP = `Usage: ${USAGE}

Runs a trigger's function in a separate process, with the environment of that function, until Ctrl-C.

  --module FILE     that exports the trigger's handler
  --trigger NAME    that the file is meant for (default: whatever it says itself)
  --datastore NAME  whose cells are consumed (default: ${ENVIRONMENT_VARIABLES.datastore})
  --url URL         of the HTTP API (default: ${ENVIRONMENT_VARIABLES.apiUrl})
  --help`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      module: { type: 'string' },
      trigger: { type: 'string' },
      datastore: { type: 'string' },
      url: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return void process.stdout.write(`${HELP}\n`);
  if (values.module === undefined)
    throw new Error(`--module: wanted the file that exports the trigger's handler, got nothing. ${USAGE}`);
  const { trigger, fn, atOnce } = await loadHandler(values.module);
  if (values.trigger !== undefined && values.trigger !== trigger)
    throw new Error(`--trigger: ${values.module} is the function of ${trigger}, not of ${values.trigger}`);
  logger.info('consuming', { trigger });
  await consume({ trigger, fn, atOnce }, { datastore: values.datastore, url: values.url, metrics: true });
  logger.info('stopped', { trigger });
}

async function loadHandler(file: string): Promise<MadeTrigger> {
  if (!existsSync(file))
    throw new Error(`--module: wanted the file that exports the trigger's handler, got ${file}, which is not there`);
  const { handler }: { readonly handler?: Partial<MadeTrigger> } = await import(pathToFileURL(resolve(file)).href);
  const { trigger, fn, atOnce = 1 } = handler ?? {};
  if (trigger === undefined || fn === undefined)
    throw new Error(`--module: ${file} exports no handler made by triggerHandler`);
  return { trigger, fn, atOnce };
}

try {
  await main();
  // The function may keep its connections open.
  process.exit();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
