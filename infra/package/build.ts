/**
 * `npm run build`, before the package is packed: compiles the entries of `entries.json` and the command line, with all
 * that they import and nothing else, into `dist`. Adds the OpenAPI document and the JSON Schemas of the YAML.
 * `--check`: writes nothing, and fails if the sources use features that Node 20 lacks.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { openApi } from '../../shared/api/openapi.ts';

const PACKAGE = import.meta.dirname;
const ROOT = join(PACKAGE, '../..');
const DIST = join(PACKAGE, 'dist');
/** The source of the command `schemaless`; package.json names the compiled file. */
const COMMAND = 'infra/cli/command.ts';

const entries: Readonly<Record<string, string>> = JSON.parse(readFileSync(join(PACKAGE, 'entries.json'), 'utf8'));

mkdirSync(DIST, { recursive: true });
const sources = [...Object.values(entries), COMMAND];
if (process.argv.includes('--check')) {
  compile(sources, '--noEmit');
  process.exit();
}
// Empties the folder but keeps it: a program that reads the sources, such as a starting stack, sees no change.
for (const name of readdirSync(DIST)) rmSync(join(DIST, name), { recursive: true, force: true });
compile(sources);
mkdirSync(join(DIST, 'entries'));
for (const [entry, source] of Object.entries(entries)) writeEntry(entry, source);
writeFileSync(join(DIST, 'openapi.json'), `${JSON.stringify(openApi({ isSigned: true }), undefined, 2)}\n`);
mkdirSync(join(DIST, 'schemas'));
for (const schema of globSync(join(ROOT, 'infra/schemas/*.schema.json')))
  copyFileSync(schema, join(DIST, 'schemas', basename(schema)));

function compile(sources: readonly string[], ...options: readonly string[]): void {
  const project = join(DIST, `tsconfig-${process.pid}.json`);
  const files = sources.map((source) => relative(DIST, join(ROOT, source)));
  writeFileSync(project, JSON.stringify({ extends: '../tsconfig.build.json', files }));
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
  try {
    execFileSync(process.execPath, [tsc, '-p', project, ...options], { stdio: ['ignore', 2, 2] });
  } finally {
    rmSync(project);
  }
}

/** Writes a module that programs may import, such as `entries/triggers.js` for `@schemaless-store/schemaless/triggers`. */
function writeEntry(entry: string, source: string): void {
  const name = entry === '.' ? 'index' : entry.slice('./'.length);
  const compiled = `../${source.replace(/\.ts$/u, '.js')}`;
  for (const extension of ['js', 'd.ts'])
    writeFileSync(join(DIST, 'entries', `${name}.${extension}`), `export * from '${compiled}';\n`);
}
