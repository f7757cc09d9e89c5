import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Bench } from './bench.ts';
import { benchCommand, readOptions, type BenchOptions } from './options.ts';

const folder = mkdtempSync(join(tmpdir(), 'schemaless-bench-options-'));
const broken = join(folder, 'broken.html');
writeFileSync(broken, '<html>');
afterAll(() => rmSync(folder, { recursive: true }));

const bench = (name: string): Bench => ({ name, what: `measures ${name}`, limitMinutes: 5, measure: () => Promise.reject(new Error('nobody asked for it')) });
const BENCHES: readonly Bench[] = [bench('store'), { ...bench('soak'), apart: true }, bench('idle')];

/** As the command line would, but throws instead of ending the process. */
function read(...argv: readonly string[]): BenchOptions {
  return readOptions(BENCHES, argv, benchCommand(BENCHES).exitOverride().configureOutput({ writeErr: () => {} }));
}

const names = ({ benches }: BenchOptions): readonly string[] => benches.map(({ name }) => name);

it('measures everything but what takes long, unless it is named', () => {
  expect(names(read('--no-report'))).toEqual(['store', 'idle']);
  expect(names(read('--no-report', 'soak', 'store', 'soak'))).toEqual(['store', 'soak']);
});

it('writes no JSON unless it is asked to, and a page unless it is asked not to', () => {
  const file = join(folder, 'page.html');
  expect(read('--no-report')).toMatchObject({ json: undefined, report: undefined });
  expect(read('--report', file, '--json', join(folder, 'findings.json'))).toMatchObject({ json: join(folder, 'findings.json'), report: file });
  expect(readdirSync(folder)).toEqual(['broken.html']);
});

it.each([
  [['stor'], /'stor' is invalid.*store, soak, idle/],
  [['--engine', 'oracle'], /--engine.*mysql, mariadb/],
  [['--json', folder], /--json.*Wanted a file that can be written, got .*EISDIR/],
  [['--json', join(folder, 'none', 'findings.json')], /--json.*ENOENT/],
  [['--report', join(folder, 'none', 'page.html')], /--report.*ENOENT/],
  [['--report', broken], /--report.*no findings are in it.*Delete it/],
  [['--report', join(folder, 'same'), '--json', join(folder, 'same')], /wanted two files, got .*same twice/],
  [['--speed'], /unknown option '--speed'/],
])('%j is refused with a message that says why', (argv, message) => {
  expect(() => read(...argv)).toThrow(message);
});
