/**
 * Makes a fresh clone ready, before the npm scripts run: `node infra/setup/prepare.mjs [--engine [mysql|mariadb]] [--browser]`.
 * Plain JavaScript without dependencies, since it runs on whatever Node the machine has, and brings everything else.
 *
 * - installs the npm dependencies, Node 24 among them, when they are missing or the lock changed;
 * - with `--engine`, finds a MySQL engine or installs one (the environment variable SCHEMALESS_ENGINE chooses);
 * - with `--browser`, finds Chromium or installs it.
 */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureDependencies } from './dependencies.mjs';
import { ensureBrowser } from './browser.mjs';
import { ensureEngine, requestedEngine } from './engine.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const args = process.argv.slice(2);
const log = (/** @type {string} */ line) => console.log(line);

try {
  await ensureDependencies(root, log);
  if (args.some((arg) => arg === '--engine' || arg.startsWith('--engine='))) {
    await ensureEngine({ desired: requestedEngine(args, process.env), log });
  }
  if (args.includes('--browser')) await ensureBrowser(log);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
