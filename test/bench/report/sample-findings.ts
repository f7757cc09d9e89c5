import type { BarPlot, LinePlot } from '../bench.ts';
import { FORMAT, type BenchReport, type RunReport } from './findings.ts';

export const SAMPLE_BARS: BarPlot = {
  kind: 'bars',
  title: 'Next to statements by hand',
  unit: 'ratio',
  bars: [
    { label: 'put: buffer, append, an entry; 32 at once', value: 0.91, least: 0.85, most: 1.02, bar: 0.85, passed: true },
    { label: 'batch of 100 cells of one shard, next to single puts', value: 4.2, bar: 5, passed: false },
    { label: 'get row', value: 0.97 },
  ],
};

export const SAMPLE_LINES: LinePlot = {
  kind: 'lines',
  title: 'Latency over cells',
  x: 'cells',
  y: 'milliseconds',
  logX: true,
  lines: [
    { name: 'p50', points: [[10_000, 1.1], [100_000, 1.2], [1_000_000, 1.2]] },
    { name: 'p99', points: [[10_000, 3.4], [100_000, 4.1], [1_000_000, 4]] },
  ],
};

/** What a bench of this name found on this engine: one row with this figure, and plots. */
export function sampleBench(name: string, engine: string, figure = '0.91'): BenchReport {
  return { name, what: `what ${name} measures`, seconds: 12.3, measured: [{ what: `${name}, the row`, figure, bar: '≥ 0.85', passed: true, engine }], plots: [SAMPLE_BARS, SAMPLE_LINES] };
}

export function sampleRun(engine: string, ...benches: readonly BenchReport[]): RunReport {
  return { format: FORMAT, engine, seed: '42', node: '24.21.0', cpu: { model: 'Sample CPU', count: 2 }, started_at: '2026-01-31T08:00:00.000Z', seconds: 20, complete: true, benches };
}
