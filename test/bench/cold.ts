import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EnvironmentName } from '../../infra/environments.ts';
import { ACCESSES } from '../../shared/environment.ts';
import type { Bench, BenchWorld, Findings, Measured } from './bench.ts';
import { deployedBundles } from './cold/bundles.ts';
import { firstCalls } from './cold/first-calls.ts';
import { loadTimes } from './cold/load-times.ts';
import { rowsOn } from './rows.ts';
import { median } from './side-by-side.ts';

/** They differ in their way to MySQL. */
const DEPLOYED = ['dev', 'prod'] as const satisfies readonly EnvironmentName[];
/** Of functions that callers wait for, and of all others. */
const MOST_BYTES = { asked: 450 * 1024, other: 600 * 1024 };
const ASKED = /: (?:write-cells|read-cells|query-index)$/u;
const MOST_MS = 150;

export const coldBench: Bench = {
  name: 'cold',
  what: 'how large the bundle of each function is, how long an instance takes to load it, and from nothing to its first answer, compared with an empty one',
  limitMinutes: 8,

  async measure(world: BenchWorld): Promise<Findings> {
    return { measured: [...(await loadingOf(world)), ...(await callingOf(world))] };
  },
};

async function loadingOf(world: BenchWorld): Promise<readonly Measured[]> {
  const bundles = new Map(DEPLOYED.flatMap((environment) => [...deployedBundles(world.folder, environment)]));
  const empty = join(world.folder, 'empty.mjs');
  writeFileSync(empty, 'export const handler = async () => {};\n');
  const times = await loadTimes([empty, ...bundles.values()], world);
  const base = median(times.get(empty) ?? []);
  const row = rowsOn(`Node ${process.versions.node}`);
  return [...bundles].map(([name, file]) => {
    const [bytes, milliseconds] = [statSync(file).size, median(times.get(file) ?? [])];
    const mostBytes = MOST_BYTES[ASKED.test(name) ? 'asked' : 'other'];
    return row(
      name,
      `${Math.round(bytes / 1024)} KiB, ${milliseconds.toFixed(0)} ms (an empty one ${base.toFixed(0)} ms)`,
      `< ${mostBytes / 1024} KiB, < ${MOST_MS} ms`,
      bytes < mostBytes && milliseconds < MOST_MS,
    );
  });
}

async function callingOf(world: BenchWorld): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  for (const access of ACCESSES) {
    const { engine, calls } = await firstCalls(world, access);
    const row = rowsOn(engine);
    for (const { title, first, second } of calls) {
      const range = `${Math.min(...first).toFixed(0)} to ${Math.max(...first).toFixed(0)}`;
      const result = `${median(first).toFixed(0)} ms (${range}), the second ${median(second).toFixed(1)} ms`;
      measured.push(row(`${access}: first answer of ${title}`, result));
    }
  }
  return measured;
}
