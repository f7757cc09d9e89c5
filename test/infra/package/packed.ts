import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { singleRun } from '../../../infra/setup/single-run.mjs';

export const PACKAGE = join(PROJECT_ROOT, 'infra/package');
export const FUNCTIONS = join(PACKAGE, 'functions');
export const MANIFEST = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
export const ENTRIES: readonly string[] = Object.keys(JSON.parse(readFileSync(join(PACKAGE, 'entries.json'), 'utf8')));

/** Packs a package, and returns the file. It is built in its own folder: by one at a time. */
export function pack(into: string, source = PACKAGE): Promise<string> {
  return singleRun(`the package of ${source}`, () => packInto(into, source));
}

/** The file of a package as this run of the tests packs it: once, for whichever of their files asks first. */
export function packed(source = PACKAGE): Promise<string> {
  // That of the run, which goes with it: a file of another run would be of other sources.
  if (!basename(tmpdir()).startsWith('schemaless-test-')) throw new Error('wanted a run of the tests');
  const into = join(tmpdir(), 'packed');
  mkdirSync(into, { recursive: true });
  return singleRun(`the package of ${source}`, () => {
    const file = fileOf(into, source);
    return existsSync(file) ? file : packInto(into, source);
  });
}

function packInto(into: string, source: string): string {
  const env = { ...process.env, npm_config_offline: 'true', npm_config_update_notifier: 'false' };
  const parameters = ['pack', '--silent', '--pack-destination', into];
  // Shows the compiler's output.
  execFileSync('npm', parameters, { cwd: source, env, stdio: ['ignore', 2, 2] });
  return fileOf(into, source);
}

function fileOf(folder: string, source: string): string {
  const { name, version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  return join(folder, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
}

/** The packages that npm installs with it, and the types of Node. */
export const BROUGHT: readonly string[] = [
  ...Object.keys({ ...MANIFEST.dependencies, ...MANIFEST.peerDependencies }),
  '@types/node',
];

/** An app that has the package as npm would bring it, and of other packages these. */
export function unpack(file: string, app: string, others: readonly string[], name = MANIFEST.name): string {
  const installed = join(app, 'node_modules', name);
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', file, '-C', installed, '--strip-components', '1']);
  for (const one of others) {
    const path = join(app, 'node_modules', one);
    if (existsSync(path)) continue;
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(PROJECT_ROOT, 'node_modules', one), path);
  }
  writeFileSync(join(app, 'package.json'), '{ "type": "module" }');
  return installed;
}

export function tsc(app: string, options: object, more: readonly string[] = []): string {
  writeFileSync(
    join(app, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { target: 'es2022', lib: ['es2023'], strict: true, noEmit: true, ...options } }),
  );
  const compiler = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc');
  try {
    return execFileSync(process.execPath, [compiler, '-p', app, ...more], { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    return String(Object(error).stdout);
  }
}

/** Ours, and the machine's own, which is often an older one; those of this version at least. */
export function nodes(oldest: number): readonly { readonly version: string; readonly path: string }[] {
  const own = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .map((folder) => join(folder, 'node'))
    .find((path) => existsSync(path));
  const all = [process.execPath, ...(own === undefined ? [] : [own])].map((path) => ({
    path: realpathSync(path),
    version: execFileSync(path, ['--version'], { encoding: 'utf8' }).trim(),
  }));
  return all.filter(
    ({ version }, position) =>
      Number(/\d+/u.exec(version)?.[0]) >= oldest && all.findIndex((one) => one.version === version) === position,
  );
}
