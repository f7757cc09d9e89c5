import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Bench } from './bench.ts';
import { benchCommand, readOptions, type BenchOptions } from './options.ts';

const folder = mkdtempSync(join(tmpdir(), 'schemaless-bench-options-'));
const broken = join(folder, 'broken.json');
writeFileSync(broken, '{');
afterAll(() => rmSync(folder, { recursive: true }));

const bench = (name: string): Bench => ({
  name,
  what: `measures ${name}`,
  limitMinutes: 5,
  measure: () => Promise.reject(new Error('nobody asked for it')),
});
const BENCHES: readonly Bench[] = [
  bench('store'),
  { ...bench('soak'), apart: true },
  bench('idle'),
  { ...bench('ycsb'), apart: true },
];

/** As the command line would, but throws instead of ending the process. */
function read(...argv: readonly string[]): BenchOptions {
  return readOptions(
    BENCHES,
    argv,
    benchCommand(BENCHES)
      .exitOverride()
      .configureOutput({ writeErr: () => {} }),
  );
}

const names = ({ benches }: BenchOptions): readonly string[] => benches.map(({ name }) => name);

it('measures everything but what takes long, unless it is named', () => {
  expect(names(read('--no-findings'))).toEqual(['store', 'idle']);
  expect(names(read('--no-findings', 'soak', 'store', 'soak'))).toEqual(['store', 'soak']);
});

it('writes what it found alone if it is asked to, and keeps it with the rest unless it is asked not to', () => {
  const file = join(folder, 'kept.json');
  expect(read('--no-findings')).toMatchObject({ json: undefined, findings: undefined });
  expect(read('--findings', file, '--json', join(folder, 'findings.json'))).toMatchObject({
    json: join(folder, 'findings.json'),
    findings: file,
  });
  expect(readdirSync(folder)).toEqual(['broken.json']);
});

it('takes what YCSB is to be run with', () => {
  expect(read('--no-findings', 'store').ycsb).toEqual({});
  expect(
    read('--no-findings', 'ycsb', '--records', '1000', '--operations=500', '--threads', '4', '--through', 'http').ycsb,
  ).toEqual({ records: 1000, operations: 500, threads: 4, through: 'http' });
});

it.each([
  [['stor'], /'stor' is invalid.*store, soak, idle/],
  [['ycsb', '--records', '0'], /--records.*Wanted a whole number from 1 to 10000000, got "0"/],
  [['ycsb', '--threads', '2.5'], /--threads.*Wanted a whole number/],
  [['ycsb', '--through', 'grpc'], /--through.*library, http/],
  [
    ['--no-findings', 'store', '--seconds', '5', '--records', '1'],
    /--records 1 --seconds 5: wanted ycsb among the names, got store/,
  ],
  [['--engine', 'oracle'], /--engine.*mysql, mariadb/],
  [['--json', folder], /--json.*Wanted a file that can be written, got .*EISDIR/],
  [['--json', join(folder, 'none', 'findings.json')], /--json.*ENOENT/],
  [['--findings', join(folder, 'none', 'kept.json')], /--findings.*ENOENT/],
  [['--findings', broken], /--findings.*holds no findings.*Delete it/],
  [['--findings', join(folder, 'same'), '--json', join(folder, 'same')], /wanted two files, got .*same twice/],
  [['--speed'], /unknown option '--speed'/],
])('%j is refused with a message that says why', (argv, message) => {
  expect(() => read(...argv)).toThrow(message);
});
