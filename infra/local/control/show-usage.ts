import { megabytes, table } from './show-status.ts';
import type { Usage } from './usage.ts';

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
