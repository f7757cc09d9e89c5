import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EnvironmentName } from '../../infra/environments.ts';
import { ACCESSES } from '../../shared/environment.ts';
import type { BarPlot, Bench, BenchWorld, Findings, Measured } from './bench.ts';
import { deployedBundles } from './cold/bundles.ts';
import { firstCalls } from './cold/first-calls.ts';
import { loadTimes } from './cold/load-times.ts';
import { barPlot, rowsOn } from './rows-and-plots.ts';
import { median } from './side-by-side.ts';

/** They differ in their way to MySQL. */
const DEPLOYED = ['dev', 'prod'] as const satisfies readonly EnvironmentName[];
const MOST_BYTES = 1024 * 1024;
const MOST_MS = 150;

export const coldBench: Bench = {
  name: 'cold',
  what: 'how large the bundle of each function is, how long an instance takes to load it, and from nothing to its first answer, beside an empty one',
  limitMinutes: 3,

  async measure(world: BenchWorld): Promise<Findings> {
    const loads = await loadingOf(world);
    const calls = await callingOf(world);
    return { measured: [...loads.measured, ...calls.measured], plots: [...loads.plots, ...calls.plots] };
  },
};

type Part = Required<Findings>;
type Bars = BarPlot['bars'];

async function loadingOf(world: BenchWorld): Promise<Part> {
  const bundles = new Map(DEPLOYED.flatMap((environment) => [...deployedBundles(world.folder, environment)]));
  const empty = join(world.folder, 'empty.mjs');
  writeFileSync(empty, 'export const handler = async () => {};\n');
  const times = await loadTimes([empty, ...bundles.values()], world);
  const base = median(times.get(empty) ?? []);
  const loads = [...bundles].map(([name, file]) => ({
    name,
    bytes: statSync(file).size,
    all: times.get(file) ?? [],
    milliseconds: median(times.get(file) ?? []),
  }));
  const row = rowsOn(`Node ${process.versions.node}`);
  const measured = loads.map(({ name, bytes, milliseconds }) =>
    row(
      name,
      `${Math.round(bytes / 1024)} KiB, ${milliseconds.toFixed(0)} ms (an empty one ${base.toFixed(0)} ms)`,
      `< ${MOST_BYTES / 1024} KiB, < ${MOST_MS} ms`,
      bytes < MOST_BYTES && milliseconds < MOST_MS,
    ),
  );
  const sizes: Bars = loads.map(({ name, bytes }) => ({
    label: name,
    value: bytes / 1024,
    bar: MOST_BYTES / 1024,
    passed: bytes < MOST_BYTES,
  }));
  const loading: Bars = loads.map(({ name, milliseconds, all }) => ({
    label: name,
    value: milliseconds,
    ...extremes(all),
    bar: MOST_MS,
    passed: milliseconds < MOST_MS,
  }));
  const empties = { label: 'an empty one', value: base, ...extremes(times.get(empty) ?? []) };
  const plots = [barPlot('Bundles', 'KiB', sizes), barPlot('Loading a bundle', 'ms', [empties, ...loading])];
  return { measured, plots };
}

async function callingOf(world: BenchWorld): Promise<Part> {
  const measured: Measured[] = [];
  const plots: BarPlot[] = [];
  for (const access of ACCESSES) {
    const { engine, calls } = await firstCalls(world, access);
    const row = rowsOn(engine);
    for (const { title, first, second } of calls) {
      const range = `${Math.min(...first).toFixed(0)} to ${Math.max(...first).toFixed(0)}`;
      const figure = `${median(first).toFixed(0)} ms (${range}), the second ${median(second).toFixed(1)} ms`;
      measured.push(row(`${access}: first answer of ${title}`, figure));
    }
    const bars = calls.map(({ title, first }) => ({ label: title, value: median(first), ...extremes(first) }));
    plots.push(barPlot(`From no process to the first answer, over ${access}`, 'ms', bars));
  }
  return { measured, plots };
}

function extremes(values: readonly number[]): { readonly least: number; readonly most: number } {
  return { least: Math.min(...values), most: Math.max(...values) };
}
