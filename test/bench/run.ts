/** `npm run bench -- NAME …`: measures what has a bar, and holds it against it. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { findEngine } from '../../infra/setup/engine.mjs';
import { textTable } from '../support/text-table.ts';
import { engineName } from '../support/cluster.ts';
import { onInterrupt } from '../support/interrupt.ts';
import { endProcessesOn } from '../support/leftovers.ts';
import { backlogBench } from './backlog.ts';
import type { Bench } from './bench.ts';
import { carryOut } from './carry-out.ts';
import { codecBench } from './codec.ts';
import { coldBench } from './cold.ts';
import { filesBench } from './files.ts';
import { growthBench } from './growth.ts';
import { httpBench } from './http.ts';
import { idleBench } from './idle.ts';
import { lagsBench } from './lags.ts';
import { loadBench } from './load.ts';
import { readOptions } from './options.ts';
import { commandOf, engineKind, FORMAT, type BenchReport, type Circumstances } from './report/findings.ts';
import { keepFindings } from './report/findings-file.ts';
import { sealedBench } from './sealed.ts';
import { shardsBench } from './shards.ts';
import { soakBench } from './soak.ts';
import { storeBench } from './store-speed.ts';
import { triggerLoadBench } from './trigger-load.ts';
import { writesBench } from './writes.ts';
import { settingsLine } from './ycsb/settings.ts';
import { ycsbBench } from './ycsb.ts';

const BENCHES: readonly Bench[] = [
  storeBench,
  writesBench,
  sealedBench,
  httpBench,
  loadBench,
  lagsBench,
  backlogBench,
  codecBench,
  coldBench,
  shardsBench,
  idleBench,
  triggerLoadBench,
  growthBench,
  soakBench,
  ycsbBench,
  filesBench,
];

const { benches, engine, seed, json, findings, ycsb } = readOptions(BENCHES, process.argv.slice(2));
const found = findEngine({ wish: engine });
const run: Circumstances = {
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
    const report = await carryOut(bench, { engine, seed, folder, signal, say, ycsb }, run.engine);
    const settings = bench.name === 'ycsb' ? settingsLine(ycsb) : '';
    done.push(settings === '' ? report : { ...report, settings });
    // After each, so that what was measured is kept when a later one is cut off.
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
const cells = done.flatMap((report) =>
  report.measured.map(({ what, figure, bar, passed, engine: on }) => [
    what,
    figure,
    bar,
    passed ? 'PASS' : 'FAIL',
    on,
    commandOf(report, engineKind({ ...report, run }), seed),
  ]),
);
for (const line of textTable([['what', 'figure', 'bar', 'verdict', 'engine', 'command'], ...cells])) console.log(line);
if (findings !== undefined) console.log(`kept in ${findings}; npm run report makes a page of it`);
process.exit(process.exitCode ?? (rows.every(({ passed }) => passed) ? 0 : 1));

function keep(): void {
  const all = {
    format: FORMAT,
    ...run,
    seconds: Math.round((performance.now() - start) / 100) / 10,
    complete: done.length === benches.length,
    benches: done,
  } as const;
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(all, undefined, 2)}\n`);
  if (findings !== undefined)
    keepFindings(
      findings,
      all,
      BENCHES.map(({ name }) => name),
    );
}
