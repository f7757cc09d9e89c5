import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PROJECT_ROOT } from '../../infra/app-context.ts';

/** By which a file is given servers of MySQL, or starts some. */
const GIVEN = /inject\('servers'\)/u;
const STARTED = ['infra/setup/engine.mjs', 'infra/local/mysql/shard-groups.ts'];
/** What a file imports, or names as the program of a thread or process; types are of the compiler alone. */
const NAMED = [
  /^(?:import|export) (?!type\b)[^;]*?from '(\.[^']+)'/gmu,
  /^import '(\.[^']+)'/gmu,
  /import\('(\.[^']+)'\)/gu,
  /new URL\('(\.[^']+)', import\.meta\.url\)/gu,
];

/**
 * The tests that touch no server of MySQL, nor any file by which they could: what they find is the same with each engine
 * and each way to it. Paths from the project's root.
 *
 * A command that a test runs by its path is not looked into: what it does with another engine is to be tested where that
 * is given.
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
