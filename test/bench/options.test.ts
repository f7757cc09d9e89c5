import { join } from 'node:path';
import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { folderOfTests } from '../infra/support/folder-of-tests.ts';
import type { Bench } from './bench.ts';
import { benchCommand, readOptions, type BenchOptions } from './options.ts';

const folder = folderOfTests().path;

const bench = (name: string): Bench => ({
  name,
  what: `measures ${name}`,
  limitMinutes: 5,
  measure: () => Promise.reject(new Error('nobody asked for it')),
});
const BENCHES: readonly Bench[] = [bench('store'), { ...bench('files'), isolated: true }, bench('idle')];

/** Reads options like the command line, but throws instead of ending the process. */
function read(...argv: readonly string[]): BenchOptions {
  const command = benchCommand(BENCHES).exitOverride();
  return readOptions(BENCHES, argv, command.configureOutput({ writeErr: () => {} }));
}

const names = ({ benches }: BenchOptions): readonly string[] => benches.map(({ name }) => name);

it('measures everything but what takes long, unless it is named', () => {
  expect(names(read())).toEqual(['store', 'idle']);
  expect(names(read('files', 'store', 'files'))).toEqual(['store', 'files']);
});

it('writes what it found if it is asked to, and no file before', () => {
  expect(read().json).toBeUndefined();
  expect(read('--json', join(folder, 'found.json')).json).toBe(join(folder, 'found.json'));
  expect(readdirSync(folder)).toEqual([]);
});

it.each([
  [['stor'], /'stor' is invalid.*store, files, idle/],
  [['--engine', 'oracle'], /--engine.*mysql, mariadb/],
  [['--json', folder], /--json.*Wanted a file that can be written, got .*EISDIR/],
  [['--json', join(folder, 'none', 'found.json')], /--json.*ENOENT/],
  [['--speed'], /unknown option '--speed'/],
])('%j is refused with a message that says why', (argv, message) => {
  expect(() => read(...argv)).toThrow(message);
});
