/** Runs a trigger's function in its own process over the local stack's queue: `npm run consume -- FILE`. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { PROJECT_ROOT } from '../../app-context.ts';
import { consumerEnvironment } from './consumer-environment.ts';
import { dataFolder } from '../folder/data-folder.ts';
import type { Endpoints } from '../running/endpoints.ts';
import { dataFlag } from './flags.ts';
import { messageOf } from '../message-of.ts';

const command = new Command('npm run consume --')
  .description(
    "run a trigger's function in its own process, over the queue of the local stack that npm start runs, until Ctrl-C",
  )
  .argument('<file>', "that exports the trigger's handler, for instance functions/examples/feed-warehouse.ts")
  .option('--datastore <name>', 'whose cells are consumed', 'trips')
  .addOption(dataFlag())
  .showHelpAfterError();
command.parse();
const [file = ''] = command.args;
const { datastore, data } = command.opts<{ datastore: string; data: string }>();

try {
  const environment = consumerEnvironment(readEndpoints(data), datastore);
  const consumer = spawn(
    process.execPath,
    [join(PROJECT_ROOT, 'functions/triggers/run-consumer.ts'), '--module', file],
    { env: { ...process.env, ...environment }, stdio: 'inherit' },
  );
  // Ctrl-C reaches both processes through the terminal.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => consumer.kill('SIGTERM'));
  consumer.once('exit', (code) => process.exit(code ?? 1));
} catch (error) {
  console.error(messageOf(error));
  process.exit(1);
}

function readEndpoints(folder: string): Endpoints {
  const path = dataFolder(folder).endpoints;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Endpoints;
  } catch (cause) {
    throw new Error(`--data: wanted the folder of a running stack, got ${folder}: ${path} cannot be read`, { cause });
  }
}
