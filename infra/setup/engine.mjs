import { homedir } from 'node:os';
import { join } from 'node:path';
import { debianRelease, installMariaDb, unpackMySql } from './debian.mjs';
import { OLDEST, installedEngines, unpackedEngine } from './engine-binaries.mjs';
import { singleRun } from './single-run.mjs';

const TITLES = { mysql: 'MySQL', mariadb: 'MariaDB' };

/** See `engine.d.mts`, as for all exports. `--engine` without a value requests none. */
export function requestedEngine(args, env) {
  const at = args.findIndex((arg) => arg === '--engine' || arg.startsWith('--engine='));
  if (at >= 0) {
    const next = args[at + 1];
    const value = args[at].startsWith('--engine=')
      ? args[at].slice('--engine='.length)
      : next !== undefined && !next.startsWith('-')
        ? next
        : undefined;
    if (value !== undefined) return checkEngine('--engine', value);
  }
  const value = env.SCHEMALESS_ENGINE ?? '';
  return value === '' ? undefined : checkEngine('SCHEMALESS_ENGINE', value);
}

function checkEngine(field, value) {
  if (value === 'mysql' || value === 'mariadb') return value;
  throw new Error(`${field}: wanted mysql or mariadb, got ${JSON.stringify(value)}`);
}

export function cacheFolder(env = process.env) {
  const base = env.XDG_CACHE_HOME ?? '';
  return join(base.startsWith('/') ? base : join(homedir(), '.cache'), 'schemaless');
}

/** A MySQL that this set-up unpacked into its cache is used only when it is requested. */
export function findEngine({ desired, env = process.env, folders } = {}) {
  const { usable } = installedEngines(env, folders);
  const installed = (kind) => usable.find((engine) => engine.kind === kind);
  if (desired === 'mariadb') return installed('mariadb');
  if (desired === 'mysql') return installed('mysql') ?? unpackedEngine(unpackFolder(env));
  return installed('mysql') ?? installed('mariadb');
}

export async function ensureEngine({ desired, env = process.env, log = () => {} } = {}) {
  const found = findEngine({ desired, env });
  if (found !== undefined) return found;
  return await singleRun('install a MySQL engine', () => {
    const meanwhile = findEngine({ desired, env });
    if (meanwhile !== undefined) return meanwhile;
    const why = `because ${absence(desired, env)}`;
    if (desired === 'mysql') bringMySql(env, why, log);
    else installMariaDb(why, log);
    const engine = findEngine({ desired, env });
    if (engine === undefined) throw new Error(`No engine to run after the installation, ${why}`);
    return engine;
  });
}

function bringMySql(env, why, log) {
  if (debianRelease()?.id !== 'debian') {
    throw new Error(
      `MySQL is wanted, and not installed here, ${why}. Install MySQL ${OLDEST.mysql} or newer, for instance on Ubuntu:\n` +
        '  sudo apt-get update && sudo apt-get install -y mysql-server-core-8.0',
    );
  }
  const folder = unpackFolder(env);
  unpackMySql(folder, why, log);
  const engine = unpackedEngine(folder);
  if (engine === undefined)
    throw new Error(`The MySQL unpacked into ${folder} does not run; delete that folder and try again`);
  log(`MySQL ${engine.version} is ready.`);
}

function absence(desired, env) {
  const { usable, tooOld } = installedEngines(env);
  const name = desired === undefined ? 'neither MySQL nor MariaDB' : `no ${TITLES[desired]}`;
  const others = [
    ...usable.map((engine) => `${engine.command.at(-1)} is ${TITLES[engine.kind]} ${engine.version}`),
    ...tooOld.map(
      (engine) => `${engine.command.at(-1)} is ${TITLES[engine.kind]} ${engine.version}, too old or incomplete`,
    ),
  ];
  return `${name} is on this machine${others.length > 0 ? ` (${others.join('; ')})` : ''}`;
}

function unpackFolder(env) {
  return join(cacheFolder(env), 'mysql');
}
