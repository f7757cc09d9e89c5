import { setTimeout as sleep } from 'node:timers/promises';
import { cpuTicks, proportionalBytes, TICKS_PER_SECOND } from '../platform/process-table.ts';
import type { StackStatus } from './status.ts';
import { filesBelow } from './files-below.ts';
import { megabytes, table } from './show-status.ts';

type Usage = Awaited<ReturnType<typeof usageOf>>;

/** Observes a stack's files and processes for some seconds. */
export async function usageOf(
  { pid, nodes, functions }: Pick<StackStatus, 'pid' | 'nodes' | 'functions'>,
  data: string,
  seconds: number,
) {
  const own = { title: 'stack and its functions', pid };
  const ofFunctions = functions.flatMap(({ title, instances }) => instances.map((one) => ({ title, pid: one.pid })));
  const servers = nodes.map((node) => ({ title: node.node, pid: node.pid }));
  const named = [own, ...ofFunctions, ...servers].filter(
    (one, index, all) => one.pid > 0 && all.findIndex((other) => other.pid === one.pid) === index,
  );
  const before = named.map((one) => cpuTicks(one.pid));
  const begun = performance.now();
  await sleep(seconds * 1000);
  const passed = (performance.now() - begun) / 1000;
  const processes = named.map(({ title, pid: of }, index) => {
    const share = (ticks: number): number => ticks / TICKS_PER_SECOND / passed;
    const threads = [...cpuTicks(of)].map(([id, { name, ticks }]) => ({
      name,
      cpu: share(ticks - (before[index]?.get(id)?.ticks ?? 0)),
    }));
    return {
      title,
      pid: of,
      /** Counts shared memory in part (PSS). */
      memory: proportionalBytes(of),
      cpu: threads.reduce((sum, { cpu }) => sum + cpu, 0),
      /** The busiest first; idle threads are left out. */
      threads: threads.filter(({ cpu }) => cpu > 0).toSorted((one, other) => other.cpu - one.cpu),
    };
  });
  return { seconds: passed, ...filesBelow(data), processes };
}

/** Kinds of files, and threads, listed; the sums hold the rest. */
const LISTED = 12;

export function showUsage({ seconds, disk, files, processes }: Usage): string {
  const sum = (of: (one: Usage['processes'][number]) => number): number =>
    processes.reduce((total, one) => total + of(one), 0);
  const threads = processes
    .flatMap(({ title, threads: its }) => its.map((thread) => ({ title, ...thread })))
    .toSorted((one, other) => other.cpu - one.cpu);
  return [
    `disk: ${megabytes(disk.taken)}, in files of ${megabytes(disk.apparent)}`,
    `memory: ${megabytes(sum(({ memory }) => memory))} (PSS)`,
    `processor: ${percent(sum(({ cpu }) => cpu))} of a core, over ${Math.round(seconds)} s`,
    '',
    ...table(processes.map(({ title, pid, memory, cpu }) => [title, `pid ${pid}`, megabytes(memory), percent(cpu)])),
    '',
    'busiest threads',
    ...table(threads.slice(0, LISTED).map(({ title, name, cpu }) => [title, name, percent(cpu)])),
    '',
    'largest files',
    ...table(
      files
        .slice(0, LISTED)
        .map(({ kind, count, taken, apparent }) => [`${count} ${kind}`, megabytes(taken), `of ${megabytes(apparent)}`]),
    ),
  ].join('\n');
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
