import { setTimeout as sleep } from 'node:timers/promises';
import { startProcess } from '../../support/processes/killable-process.ts';
import { processTree } from '../../support/processes/process-tree.ts';
import type { BenchWorld } from '../bench.ts';
import { openBareClient } from './bare-client.ts';
import type { SoakMinute, SoakPlan, SoakProgress } from './soak-plan.ts';

/** A minute, and what was seen of the machine beside it. */
export interface WatchedMinute extends SoakMinute {
  /** Of a bare client on the same servers, in milliseconds. */
  readonly bareP99: number;
  /** What the database servers took of memory at its end. */
  readonly serverBytes: number;
}

export interface Soaked {
  /** Operations a second. */
  readonly peak: number;
  readonly minutes: readonly WatchedMinute[];
}

const POLL_MS = 100;
export const MEBIBYTE = 1024 * 1024;

/** Soaks in a process of its own. @param serverPids the database servers, children of this process */
export async function runSoak(
  plan: SoakPlan,
  serverPids: readonly number[],
  { folder, signal, say }: BenchWorld,
): Promise<Soaked> {
  await using bare = await openBareClient(plan.access.groups);
  using soaking = startProcess<SoakPlan, SoakProgress>(new URL('soak-process.ts', import.meta.url), folder, plan);
  await soaking.ready;
  const minutes: WatchedMinute[] = [];
  let isGone = false;
  void soaking.gone.then(() => {
    isGone = true;
  });
  let told = false;
  while (minutes.length < plan.minutes) {
    const { peak, minutes: known = [] } = soaking.progress ?? {};
    // What it saw while the peak was looked for is of no minute.
    if (peak !== undefined && !told) bare.p99();
    if (peak !== undefined && !told)
      say(`peak ${peak.toFixed(0)} operations a second; ${plan.minutes} minutes at ${(peak * plan.share).toFixed(0)}`);
    told = peak !== undefined;
    for (const minute of known.slice(minutes.length)) {
      const watched = { ...minute, bareP99: bare.p99(), serverBytes: residentBytes(serverPids) };
      minutes.push(watched);
      say(minuteLine(minutes.length, watched));
    }
    if (isGone && minutes.length < plan.minutes)
      throw new Error(`the load ended after ${minutes.length} of ${plan.minutes} minutes`);
    await sleep(POLL_MS, undefined, { signal });
  }
  await soaking.stop();
  return { peak: soaking.progress?.peak ?? 0, minutes };
}

function residentBytes(pids: readonly number[]): number {
  return processTree(process.pid)
    .filter(({ pid }) => pids.includes(pid))
    .reduce((sum, process) => sum + process.residentBytes, 0);
}

function minuteLine(
  number: number,
  { p50, p99, bareP99, operations, refused, buffered, residentBytes: own, serverBytes }: WatchedMinute,
): string {
  const memory = `${(own / MEBIBYTE).toFixed(0)} MiB, servers ${(serverBytes / MEBIBYTE).toFixed(0)} MiB`;
  return `minute ${number}: p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms (bare ${bareP99.toFixed(1)}) of ${operations.toLocaleString('en-US')}, ${refused} refused; ${buffered} buffered; ${memory}`;
}
