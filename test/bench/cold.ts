import { execFile } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { App } from 'aws-cdk-lib';
import { buildApp } from '../../infra/app.ts';
import type { EnvironmentName } from '../../infra/environments.ts';
import { loadAssembly } from '../../infra/local/template/load-assembly.ts';
import type { Bench, BenchWorld, Findings, Measured } from './bench.ts';
import { median } from './side-by-side.ts';

const run = promisify(execFile);
/** They differ in their way to MySQL. */
const DEPLOYED = ['dev', 'prod'] as const satisfies readonly EnvironmentName[];
const ROUNDS = 9;
const MOST_BYTES = 1024 * 1024;
const MOST_MS = 150;
/** Prints how long it takes until a module and what it imports are there, as an instance does before its first call. */
const TIMER = "const start = performance.now(); await import(process.argv[1]); console.log(performance.now() - start); process.exit(0);";

export const coldBench: Bench = {
  name: 'cold',
  what: 'how large the bundle of each function is, and how long an instance takes to load it, beside an empty one',
  limitMinutes: 3,

  async measure({ folder, say, signal }: BenchWorld): Promise<Findings> {
    const bundles = new Map(DEPLOYED.flatMap((environment) => [...synthesize(folder, environment)]));
    const empty = join(folder, 'empty.mjs');
    writeFileSync(empty, 'export const handler = async () => {};\n');
    const files = [empty, ...bundles.values()];
    const times = new Map(files.map((file): [string, number[]] => [file, []]));
    // In turn, so that what else the machine does falls on all alike; the first round warms the file cache.
    for (let round = 0; round <= ROUNDS && !signal.aborted; round += 1) {
      say(`round ${round} of ${ROUNDS}`);
      for (const file of files) {
        const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', TIMER, file]);
        if (round > 0) times.get(file)?.push(Number(stdout));
      }
    }
    const base = median(times.get(empty) ?? []);
    const measured = [...bundles].map(([name, file]): Measured => {
      const bytes = statSync(file).size;
      const milliseconds = median(times.get(file) ?? []);
      return {
        what: name,
        figure: `${Math.round(bytes / 1024)} KiB, ${milliseconds.toFixed(0)} ms (an empty one ${base.toFixed(0)} ms)`,
        bar: `< ${MOST_BYTES / 1024} KiB, < ${MOST_MS} ms`,
        passed: bytes < MOST_BYTES && milliseconds < MOST_MS,
        engine: `Node ${process.versions.node}`,
      };
    });
    return { measured };
  },
};

/** The bundles as they are deployed, by environment and function. */
function synthesize(folder: string, environment: EnvironmentName): ReadonlyMap<string, string> {
  const outdir = join(folder, `cdk.out-${environment}`);
  mkdirSync(outdir, { recursive: true });
  const app = new App({ outdir, context: { environment, 'aws:cdk:enable-asset-metadata': true } });
  buildApp(app);
  app.synth();
  const functions = loadAssembly(outdir).flatMap(({ template }) => Object.values(template.Resources)).filter(({ Type, Properties }) => Type === 'AWS::Lambda::Function' && String(Properties?.['Description']).startsWith('Schemaless: '));
  return new Map(
    functions.map(({ Properties, Metadata }): [string, string] => [
      String(Properties?.['Description']).replace('Schemaless: ', `${environment}: `),
      join(outdir, String(Metadata?.['aws:asset:path']), 'index.mjs'),
    ]),
  );
}

