import type { BarPlot, Bench, BenchWorld, Findings, Measured } from './bench.ts';
import { GROUPS, SHARDS, startFilledStore } from './growth/filled-store.ts';
import { RecordNumbers } from './ycsb/record-numbers.ts';
import { newRecords, THREAD_INDEX, type RecordColumn } from './ycsb/records.ts';
import { runWorkload, type WorkloadResult } from './ycsb/run-workload.ts';
import { RECORDS, WORKLOADS } from './ycsb/workloads.ts';

const CONNECTIONS = 16;
const COLUMNS: readonly RecordColumn[] = ['BASE', 'POST'];
const PERCENTILES = [50, 95, 99];

/**
 * YCSB's core workloads, to be held against what others publish: see `workloads.ts` for the parameters, and
 * `record-operations.ts` for what became of the operations. Clients, store and drain share this one process, and the
 * machine with the database servers.
 */
export const ycsbBench: Bench = {
  name: 'ycsb',
  what: `YCSB's core workloads A to F: ${RECORDS.toLocaleString('en-US')} records of 1 KB, ${GROUPS} groups, ${SHARDS} shards`,
  apart: true,
  limitMinutes: 8,

  async measure(world: BenchWorld): Promise<Findings> {
    const { seed, say, signal } = world;
    await using filled = await startFilledStore(world, {
      index: THREAD_INDEX,
      cells: newRecords(COLUMNS, RECORDS),
      connections: CONNECTIONS,
    });
    const {
      engine,
      store: { datastore },
    } = filled;
    say(`${RECORDS.toLocaleString('en-US')} records are there, and as many to be scanned`);
    const numbers = { BASE: new RecordNumbers(RECORDS), POST: new RecordNumbers(RECORDS) };
    const results: WorkloadResult[] = [];
    for (const workload of WORKLOADS) {
      const result = await runWorkload({ workload, datastore, numbers, seed, signal });
      say(`${workload.name}: ${figureOf(result)}`);
      results.push(result);
    }
    results.sort((one, other) => one.workload.name.localeCompare(other.workload.name));
    return {
      measured: results.map((result) => rowOf(result, engine)),
      plots: [throughputPlot(results), latencyPlot(results)],
    };
  },
};

function rowOf(result: WorkloadResult, engine: string): Measured {
  return { what: `YCSB ${result.workload.name}`, figure: figureOf(result), bar: 'printed', passed: true, engine };
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

function throughputPlot(results: readonly WorkloadResult[]): BarPlot {
  return {
    kind: 'bars',
    title: 'YCSB: throughput',
    unit: 'operations a second',
    bars: results.map(({ workload, perSecond }) => ({ label: workload.name, value: perSecond })),
  };
}

function latencyPlot(results: readonly WorkloadResult[]): BarPlot {
  const bars = results.flatMap(({ workload, latencies }) =>
    [...latencies].map(([operation, ofOperation]) => ({
      label: `${workload.name}: ${operation}`,
      value: ofOperation.percentile(99),
    })),
  );
  return { kind: 'bars', title: 'YCSB: p99', unit: 'milliseconds', bars };
}
