/** `npm run bench -- NAME …`: measures the store, and checks the results against their bars. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { findEngine } from '../../infra/setup/engine.mjs';
import { textTable } from '../support/text-table.ts';
import { engineName } from '../support/cluster.ts';
import { onInterrupt } from '../support/interrupt.ts';
import { endProcessesOn } from '../support/leftovers.ts';
import type { Bench, BenchReport } from './bench.ts';
import { carryOut } from './carry-out.ts';
import { coldBench } from './cold.ts';
import { filesBench } from './files.ts';
import { handlersBench } from './handlers.ts';
import { httpBench } from './http.ts';
import { lagsBench } from './lags.ts';
import { loadBench } from './load.ts';
import { readOptions } from './options.ts';
import { requestsBench } from './requests.ts';
import { sealedBench } from './sealed.ts';
import { shardsBench } from './shards.ts';
import { storeBench } from './store-speed.ts';
import { triggerLoadBench } from './trigger-load.ts';
import { writesBench } from './writes.ts';

const BENCHES: readonly Bench[] = [
  storeBench,
  writesBench,
  sealedBench,
  httpBench,
  handlersBench,
  loadBench,
  lagsBench,
  coldBench,
  shardsBench,
  triggerLoadBench,
  requestsBench,
  filesBench,
];

const { benches, engine, seed, json } = readOptions(BENCHES, process.argv.slice(2));
const found = findEngine({ desired: engine });
const run = {
  engine: found ? engineName(found) : 'no engine',
  seed,
  node: process.versions.node,
  cpu: { model: cpus()[0]?.model.trim() ?? 'unknown', count: cpus().length },
  started_at: new Date().toISOString(),
};
const start = performance.now();

const folders = new Set<string>();
const clear = (folder: string): void => {
  endProcessesOn(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
};
const signal = onInterrupt(() => folders.forEach(clear));

const done: BenchReport[] = [];
for (const bench of benches) {
  if (signal.aborted) break;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `schemaless-bench-${bench.name}-`)));
  folders.add(folder);
  console.log(`${bench.name}: ${bench.what} (seed ${seed})`);
  try {
    const say = (line: string): void => console.log(`  ${line}`);
    done.push(await carryOut(bench, { engine, seed, folder, signal, say }, run.engine));
    // After each, so that results survive when a later bench is cut off.
    keep();
  } catch (error) {
    console.error(signal.aborted ? `${bench.name}: stopped` : error);
    if (!signal.aborted) process.exitCode = 1;
  } finally {
    clear(folder);
    folders.delete(folder);
  }
}
if (signal.aborted) process.exit(130);
const rows = done.flatMap(({ measured }) => measured);
const cells = done.flatMap(({ name, measured }) =>
  measured.map(({ what, result, bar, passed, engine: on }) => [
    what,
    result,
    bar,
    passed ? 'PASS' : 'FAIL',
    on,
    commandOf(name, measured),
  ]),
);
for (const line of textTable([['what', 'figure', 'bar', 'verdict', 'engine', 'command'], ...cells])) console.log(line);
process.exit(process.exitCode ?? (rows.every(({ passed }) => passed) ? 0 : 1));

/** Returns the command that measures the rows of a bench again. Names no engine if Node alone was measured. */
function commandOf(name: string, measured: BenchReport['measured']): string {
  const isBound = measured.length === 0 || measured.some((row) => !row.engine.startsWith('Node '));
  return `npm run bench -- ${name}${isBound ? ` --engine ${run.engine.split(' ')[0]?.toLowerCase()}` : ''} --seed ${seed}`;
}

function keep(): void {
  if (json === undefined) return;
  const all = {
    ...run,
    seconds: Math.round((performance.now() - start) / 100) / 10,
    complete: done.length === benches.length,
    benches: done,
  };
  writeFileSync(json, `${JSON.stringify(all, undefined, 2)}\n`);
}
