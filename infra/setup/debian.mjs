import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { suiteOfSources } from './debian-sources.mjs';

const MARIADB_PACKAGES = ['mariadb-server-core', 'mariadb-client-core'];
const MYSQL_PACKAGE = 'mysql-server-core';
const CHROMIUM_PACKAGE = 'chromium';
/** Needed by scripts of the package that are not used here, and half of its size. */
const UNUSED = /^(perl|perl-base|perl-modules-[\d.]+|libperl[\d.]+[^_]*)_/;

/** `ID` and `VERSION_CODENAME` of the system when it is Debian or one of its kin, else undefined. */
export function debianRelease(file = '/etc/os-release') {
  if (!existsSync(file) || spawnSync('apt-get', ['--version']).status !== 0) return undefined;
  const fields = Object.fromEntries(
    readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => /^(\w+)="?([^"]*)"?$/.exec(line)?.slice(1, 3) ?? []),
  );
  if (fields.ID !== 'debian' && !/\bdebian\b/.test(fields.ID_LIKE ?? '')) return undefined;
  return { id: fields.ID, codename: fields.VERSION_CODENAME };
}

/** Installs MariaDB with the system's package manager: the programs only, no service is set up. */
export function installMariaDb(why, log) {
  install(MARIADB_PACKAGES, {
    need: `A MySQL engine is needed, ${why}`,
    elsewhere: 'install MySQL 8.0 or newer, or MariaDB 10.6 or newer, with its own package manager',
    begin: () => log(`Installing MariaDB (${MARIADB_PACKAGES.join(', ')}; no service is started), ${why}.`),
  });
}

export function installChromium(log) {
  install([CHROMIUM_PACKAGE], {
    need: 'Chromium is needed, because the console is tested in a browser',
    elsewhere: 'install Chromium with its own package manager',
    begin: () => log(`Installing ${CHROMIUM_PACKAGE}, in which the console is tested.`),
  });
}

function install(packages, { need, elsewhere, begin }) {
  const command = `apt-get update && apt-get install -y ${packages.join(' ')}`;
  if (debianRelease() === undefined)
    throw new Error(
      `${need}. This system is not Debian or its kin: ${elsewhere}. On Debian it would be:\n  ${command}`,
    );
  const prefix = administrator();
  if (prefix === undefined) {
    throw new Error(
      `${need}. Installing it takes root, or sudo without a password. Run, then repeat:\n  sudo sh -c '${command}'`,
    );
  }
  begin();
  const apt = [...prefix, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-q', '-o', 'DPkg::Lock::Timeout=300'];
  must(apt, ['update']);
  must(apt, ['install', '-y', '--no-install-recommends', ...packages]);
}

/**
 * Brings MySQL from Debian's unstable suite, the only one that has it, without installing it: apt resolves and
 * downloads with its own lists, status and cache, and the packages are unpacked into `folder`. The folder is replaced
 * as a whole, and only when everything is there. Needs no root.
 */
export function unpackMySql(folder, why, log) {
  const source = suiteOfSources('/etc/apt', debianRelease()?.codename ?? '', 'sid');
  if (source === undefined) {
    throw new Error(
      `MySQL is wanted, ${why}, and /etc/apt names no Debian source to bring it from. Put a real mysqld 8.0 or newer on the PATH`,
    );
  }
  log(
    `Unpacking MySQL (${MYSQL_PACKAGE} of Debian unstable, about 60 MB) into ${folder}, ${why}. Nothing is installed.`,
  );
  mkdirSync(dirname(folder), { recursive: true });
  const work = mkdtempSync(join(dirname(folder), 'mysql-unpacking-'));
  try {
    const apt = ['apt-get', '-q', ...privateApt(work, source)];
    must(apt, ['update']);
    must(apt, ['install', '-y', '--download-only', MYSQL_PACKAGE]);
    const archives = join(work, 'cache', 'archives');
    const tree = join(work, 'tree');
    for (const file of readdirSync(archives)) {
      if (file.endsWith('.deb') && !UNUSED.test(basename(file))) must(['dpkg', '-x'], [join(archives, file), tree]);
    }
    rmSync(folder, { recursive: true, force: true });
    renameSync(tree, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Returns options with which apt uses only the system's keys and its way to the network. */
function privateApt(work, source) {
  for (const folder of ['sources', 'state/lists/partial', 'cache/archives/partial', 'log'])
    mkdirSync(join(work, folder), { recursive: true });
  writeFileSync(join(work, 'sources', source.file), source.text);
  writeFileSync(join(work, 'status'), '');
  const options = {
    'Dir::Etc::sourcelist': '/dev/null',
    'Dir::Etc::sourceparts': join(work, 'sources'),
    'Dir::Etc::preferences': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
    'Dir::State': join(work, 'state'),
    'Dir::State::status': join(work, 'status'),
    'Dir::Cache': join(work, 'cache'),
    'Dir::Log': join(work, 'log'),
    'APT::Install-Recommends': 'false',
    'APT::Sandbox::User': '',
    'Acquire::Languages': 'none',
  };
  return Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}

/** What to put before a command to run it as root; undefined when there is no way. */
function administrator() {
  if (process.getuid?.() === 0) return [];
  return spawnSync('sudo', ['-n', 'true']).status === 0 ? ['sudo', '-n'] : undefined;
}

function must([program, ...first], rest) {
  const run = spawnSync(program, [...first, ...rest], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  });
  if (run.status === 0) return;
  const output = (run.stderr || run.stdout || run.error?.message || '').trim().split('\n').slice(-15).join('\n');
  throw new Error(`${program} ${rest.join(' ')} failed:\n${output}`);
}
