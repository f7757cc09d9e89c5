import { join } from 'node:path';
import type { BarPlot, Bench, BenchWorld, Findings, Measured } from './bench.ts';
import { GROUPS, SHARDS } from './growth/filled-store.ts';
import { barPlot, rowsOn } from './rows-and-plots.ts';
import { openRecords } from './ycsb/open-records.ts';
import { RecordNumbers } from './ycsb/record-numbers.ts';
import { runWorkload, type WorkloadResult } from './ycsb/run-workload.ts';
import { WAYS, type Way } from './ycsb/settings.ts';
import { readWorkloads } from './ycsb/workloads.ts';

const PERCENTILES = [50, 95, 99];
const RECORDS = 100_000;
const THREADS = 32;
const SECONDS = 20;
/** More than a bench may take: operations that are counted end by themselves. */
const NO_END_SECONDS = 86_400;
const NAMES: Readonly<Record<Way, string>> = { library: 'through the library', http: 'through HTTP' };

/**
 * YCSB's core workloads, to be held against what others publish: see `ycsb/workloads/` for the parameters, and
 * `record-operations.ts` for what became of the operations.
 */
export const ycsbBench: Bench = {
  name: 'ycsb',
  what: `YCSB's core workloads A to F, records of 1 KB, through the library and through HTTP: ${GROUPS} groups, ${SHARDS} shards`,
  apart: true,
  limitMinutes: 60,

  async measure(world: BenchWorld): Promise<Findings> {
    const { through } = world.ycsb ?? {};
    const measured: Measured[] = [];
    const plots: BarPlot[] = [];
    for (const way of through === undefined ? WAYS : [through]) {
      const { engine, results } = await measureWay(way, world);
      measured.push(...results.map((result) => rowOf(result, way, world, engine)));
      plots.push(throughputPlot(results, way), latencyPlot(results, way));
    }
    return { measured, plots };
  },
};

async function measureWay(
  way: Way,
  world: BenchWorld,
): Promise<{ readonly engine: string; readonly results: readonly WorkloadResult[] }> {
  const { seed, say, signal, ycsb = {} } = world;
  const { records = RECORDS, threads = THREADS, operations } = ycsb;
  const seconds = ycsb.seconds ?? (operations === undefined ? SECONDS : NO_END_SECONDS);
  await using opened = await openRecords(way, { ...world, folder: join(world.folder, way) }, records);
  const { datastore, engine } = opened;
  say(`${NAMES[way]}: ${records.toLocaleString('en-US')} records are there, and as many to be scanned`);
  const numbers = { BASE: new RecordNumbers(records), POST: new RecordNumbers(records) };
  const results: WorkloadResult[] = [];
  for (const workload of readWorkloads()) {
    const result = await runWorkload({ workload, datastore, numbers, threads, operations, seconds, seed, signal });
    say(`${workload.name}, ${NAMES[way]}: ${figureOf(result)}`);
    results.push(result);
  }
  return { engine, results: results.toSorted((one, other) => one.workload.name.localeCompare(other.workload.name)) };
}

function rowOf(result: WorkloadResult, way: Way, { ycsb = {} }: BenchWorld, engine: string): Measured {
  const { records = RECORDS, threads = THREADS } = ycsb;
  const load = `${records.toLocaleString('en-US')} records, ${threads} threads`;
  return rowsOn(engine)(`YCSB ${result.workload.name}; ${NAMES[way]}, ${load}`, figureOf(result));
}

/** "3,412 a second; read 1.10, 2.31, 4.52 ms (p50, p95, p99); hottest record 3.8 %, 3.8 % in theory" */
function figureOf({ perSecond, latencies, failed, overtaken, hottest }: WorkloadResult): string {
  const times = [...latencies].map(
    ([operation, ofOperation]) =>
      `${operation} ${PERCENTILES.map((percent) => ofOperation.percentile(percent).toFixed(2)).join(', ')} ms`,
  );
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  const rest = [
    ...(hottest ? [`hottest record ${percent(hottest.share)}, ${percent(hottest.inTheory)} in theory`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(overtaken > 0 ? [`${overtaken} overtaken`] : []),
  ];
  return [
    `${Math.round(perSecond).toLocaleString('en-US')} a second`,
    `${times.join(', ')} (p50, p95, p99)`,
    ...rest,
  ].join('; ');
}

function throughputPlot(results: readonly WorkloadResult[], way: Way): BarPlot {
  const bars = results.map(({ workload, perSecond }) => ({ label: workload.name, value: perSecond }));
  return barPlot(`YCSB ${NAMES[way]}: throughput`, 'operations a second', bars);
}

function latencyPlot(results: readonly WorkloadResult[], way: Way): BarPlot {
  const bars = results.flatMap(({ workload, latencies }) =>
    [...latencies].map(([operation, ofOperation]) => ({
      label: `${workload.name}: ${operation}`,
      value: ofOperation.percentile(99),
    })),
  );
  return barPlot(`YCSB ${NAMES[way]}: p99`, 'milliseconds', bars);
}
