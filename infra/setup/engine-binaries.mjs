import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Below these the store does not run: window functions (MySQL), crash-safe CREATE TABLE (MariaDB). */
export const OLDEST = { mysql: '8.0.0', mariadb: '10.6.0' };

/** Servers are kept out of an ordinary user's PATH on many systems. */
const FOLDERS = [
  '/usr/sbin',
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/libexec',
  '/usr/local/mysql/bin',
  '/opt/mysql/bin',
];

/** Which engine a `--version` line speaks of. File names say nothing: Debian's `mysqld` is MariaDB. */
function readVersion(line) {
  const found = /\bVer (\d+\.\d+\.\d+)(\S*)/.exec(line);
  if (found === null) return undefined;
  return { kind: /mariadb/i.test(found[2]) ? 'mariadb' : 'mysql', version: found[1] };
}

/** Returns the servers on this machine that the store can run on, and too old ones. `folders`: in addition to PATH. */
export function installedEngines(env, folders = FOLDERS) {
  const places = [...(env.PATH ?? '').split(':').filter((place) => place !== ''), ...folders];
  const files = new Set();
  for (const name of ['mysqld', 'mariadbd']) {
    for (const place of places) {
      const file = join(place, name);
      if (existsSync(file)) files.add(realpathSync(file));
    }
  }
  const engines = [...files].map((file) => describeEngine([file], places)).filter((engine) => engine !== undefined);
  return { usable: engines.filter(isUsable), tooOld: engines.filter((engine) => !isUsable(engine)) };
}

/**
 * The engine of a MySQL tree that was unpacked rather than installed; undefined when it is not there or does not run.
 * It is run by the tree's own loader with the tree's own libraries, since they are newer than the machine's.
 */
export function unpackedEngine(root) {
  const server = join(root, 'usr', 'sbin', 'mysqld');
  const loader = ['lib64', 'lib']
    .flatMap((folder) => list(join(root, 'usr', folder)).map((name) => join(root, 'usr', folder, name)))
    .find((file) => /\/ld-linux[^/]*\.so\.\d+$/.test(file));
  const libraries = list(join(root, 'usr', 'lib'))
    .filter((name) => /-linux-gnu/.test(name))
    .map((name) => join(root, 'usr', 'lib', name));
  if (!existsSync(server) || loader === undefined || libraries.length === 0) return undefined;
  const engine = describeEngine([loader, '--library-path', libraries.join(':'), server], []);
  if (engine?.kind !== 'mysql' || !isUsable(engine)) return undefined;
  const own = [
    `--basedir=${root}/usr`,
    `--lc-messages-dir=${root}/usr/share/mysql`,
    `--plugin-dir=${root}/usr/lib/mysql/plugin`,
    '--secure-file-priv=',
  ];
  return { ...engine, ownArguments: own };
}

function describeEngine(command, places) {
  const run = spawnSync(command[0], [...command.slice(1), '--no-defaults', '--version'], {
    encoding: 'utf8',
    timeout: 20_000,
  });
  const read = readVersion(run.stdout ?? '');
  if (read === undefined) return undefined;
  const installer = read.kind === 'mariadb' ? findInstaller(dirname(command[0]), places) : undefined;
  return { ...read, command, ownArguments: [], installer };
}

function findInstaller(folder, places) {
  const near = [folder, join(folder, '..', 'bin'), join(folder, '..', 'scripts'), ...places];
  return near
    .flatMap((place) => [join(place, 'mariadb-install-db'), join(place, 'mysql_install_db')])
    .find((file) => existsSync(file));
}

function isUsable(engine) {
  const [major, minor] = engine.version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST[engine.kind].split('.').map(Number);
  const isNew = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  return isNew && (engine.kind === 'mysql' || engine.installer !== undefined);
}

function list(folder) {
  return existsSync(folder) ? readdirSync(folder) : [];
}
