import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PROJECT_ROOT } from '../../infra/app-context.ts';

/** Modules by which a file receives servers of MySQL, or starts some. */
const GIVEN = /inject\('servers'\)/u;
const STARTED = ['infra/setup/engine.mjs', 'infra/local/mysql/shard-groups.ts'];
/** Imports of a file, and programs of threads or processes that it names; types matter to the compiler alone. */
const NAMED = [
  /^(?:import|export) (?!type\b)[^;]*?from '(\.[^']+)'/gmu,
  /^import '(\.[^']+)'/gmu,
  /import\('(\.[^']+)'\)/gu,
  /new URL\('(\.[^']+)', import\.meta\.url\)/gu,
];

/**
 * Returns the tests that touch no server of MySQL, nor any file by which they could, as paths from the project's root.
 * Their results are the same with each engine and each way to it.
 *
 * Commands that a test runs by path are not analysed: their work with another engine must be tested where that is
 * given.
 */
export function testsWithoutMysql(): readonly string[] {
  return globSync('test/**/*.test.ts', { cwd: PROJECT_ROOT }).filter((file) => !touchesMysql(file));
}

function touchesMysql(test: string): boolean {
  // Grows while it is gone through.
  const reached = new Set([test]);
  for (const file of reached) {
    if (isSource(file)) return true;
    for (const named of namedBy(file)) reached.add(named);
  }
  return false;
}

function isSource(file: string): boolean {
  return STARTED.includes(file) || GIVEN.test(textOf(file));
}

function namedBy(file: string): readonly string[] {
  const text = textOf(file);
  return NAMED.flatMap((form) => [...text.matchAll(form)].map(([, path = '']) => join(dirname(file), path))).filter(
    (path) => existsSync(join(PROJECT_ROOT, path)),
  );
}

const texts = new Map<string, string>();

function textOf(file: string): string {
  let text = texts.get(file);
  if (text === undefined) {
    text = /\.m?ts$|\.mjs$/u.test(file) ? readFileSync(join(PROJECT_ROOT, file), 'utf8') : '';
    texts.set(file, text);
  }
  return text;
}
