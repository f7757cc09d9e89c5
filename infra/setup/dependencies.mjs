import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { singleRun } from './single-run.mjs';

/** The major version of the npm package `node`; the scripts run on it, whatever the machine has. */
const NODE_MAJOR = 24;
const ERROR_LINES = 12;

/**
 * Installs the dependencies when they are missing or the lock changed since they were installed, and checks that
 * Node 24 came with them. Does nothing, in milliseconds, when all is there. Throws an Error that says what to do.
 */
export async function ensureDependencies(root, log) {
  if (missing(root) === undefined) return;
  await singleRun(`dependencies of ${root}`, () => {
    const why = missing(root);
    if (why !== undefined) install(root, why, log);
  });
}

/** Why an install is needed, or undefined. */
function missing(root) {
  const modules = join(root, 'node_modules');
  if (!existsSync(modules)) return 'they are missing';
  if (!existsSync(join(modules, '.bin', 'node'))) return `Node ${NODE_MAJOR} is not among them`;
  const lock = readLock(root);
  if (lock === undefined) return existsSync(stampFile(root)) ? undefined : 'they were never installed in full';
  if (readOr(stampFile(root)) === hash(lock)) return undefined;
  if (!installedAs(lock, readOr(join(modules, '.package-lock.json')))) return 'package-lock.json changed';
  writeFileSync(stampFile(root), hash(lock));
  return undefined;
}

/** Returns whether npm's record of installed packages equals the lock, as after npm was run by hand. */
function installedAs(lock, record) {
  if (record === '') return false;
  try {
    const installed = JSON.parse(record).packages;
    return Object.entries(JSON.parse(lock).packages).every(
      ([path, wanted]) =>
        path === '' ||
        (installed[path] === undefined ? wanted.optional === true : installed[path].version === wanted.version),
    );
  } catch {
    return false;
  }
}

function install(root, why, log) {
  const lock = readLock(root);
  const command = lock === undefined ? 'install' : 'ci';
  log(`Installing the dependencies (npm ${command}), because ${why}.`);
  // Errors only: the warnings are about the machine's own Node, which runs nothing but this set-up.
  npm(root, [command, '--no-audit', '--no-fund', '--loglevel=error']);
  if (nodeMajor(root) !== NODE_MAJOR) npm(root, ['rebuild', 'node', '--loglevel=error']);
  const major = nodeMajor(root);
  if (major !== NODE_MAJOR) {
    throw new Error(
      `Node ${NODE_MAJOR} did not arrive in node_modules/.bin (found ${major ?? 'none'}). ` +
        'Its package has an install script, which npm must be allowed to run: npm config set ignore-scripts false, then npm ci',
    );
  }
  // A second stamp of the lock as npm left it: without a lock, `npm install` has just written one.
  writeFileSync(stampFile(root), hash(readLock(root) ?? ''));
}

function npm(root, args) {
  const run = spawnSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  if (run.error !== undefined) throw new Error(`npm could not be started: ${run.error.message}`, { cause: run.error });
  if (run.status === 0) return;
  // The error comes first; npm prints its manual after it.
  const output = `${run.stderr}${run.stdout}`.split('\n').filter((line) => line.replace('npm error', '').trim() !== '');
  const more = output.length > ERROR_LINES ? `\n… (${output.at(-1)})` : '';
  throw new Error(`npm ${args[0]} failed in ${root}:\n${output.slice(0, ERROR_LINES).join('\n')}${more}`);
}

function nodeMajor(root) {
  const run = spawnSync(join(root, 'node_modules', '.bin', 'node'), ['--version'], { encoding: 'utf8' });
  const major = /^v(\d+)\./.exec(run.stdout ?? '')?.[1];
  return major === undefined ? undefined : Number(major);
}

function stampFile(root) {
  return join(root, 'node_modules', '.installed-lock');
}

function readLock(root) {
  const lock = readOr(join(root, 'package-lock.json'));
  return lock === '' ? undefined : lock;
}

function readOr(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function hash(text) {
  return createHash('sha256').update(text).digest('hex');
}
